// SPDX-License-Identifier: Apache-2.0
#include "run/statistics.h"

#include <cmath>

#include "locus/error.h"

namespace locus::lab {

Estimate estimate(std::span<const double> values) {
  require(!values.empty(), "estimate: there must be at least one value");
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  Estimate result{sum / count, {}};
  if (values.size() < 2) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  const double error = std::sqrt(squares / (count - 1) / count);
  const double reach = student_t(static_cast<int>(values.size()) - 1, 0.95) * error;
  result.interval = {result.mean - reach, result.mean + reach};
  return result;
}

}  // namespace locus::lab
