// SPDX-License-Identifier: Apache-2.0
#include "results/statistics.h"

#include <algorithm>
#include <cmath>

#include "results/student_t.h"

namespace locus::results {

std::optional<Estimate> estimate(std::span<const double> values) {
  if (values.empty()) return {};
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  Estimate result{.mean = sum / count, .low = {}, .high = {}, .seeds = values.size()};
  if (!std::isfinite(result.mean)) return {};
  if (values.size() < 2) return result;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  const double reach = student_t(static_cast<int>(values.size()) - 1, 0.95) * std::sqrt(squares / (count - 1) / count);
  result.low = result.mean - reach;
  result.high = result.mean + reach;
  return result;
}

std::optional<Estimate> estimate(const BySeed& values) {
  std::vector<double> present;
  for (const std::optional<double>& value : values) {
    if (value) present.push_back(*value);
  }
  return estimate(present);
}

BySeed difference(const BySeed& a, const BySeed& b) {
  BySeed result(std::min(a.size(), b.size()));
  for (std::size_t seed = 0; seed < result.size(); ++seed) {
    if (a[seed] && b[seed]) result[seed] = *a[seed] - *b[seed];
  }
  return result;
}

BySeed mean_by_seed(std::span<const BySeed* const> all) {
  if (all.empty()) return {};
  BySeed result(all.front()->size(), 0.0);
  for (const BySeed* one : all) {
    for (std::size_t seed = 0; seed < result.size(); ++seed) {
      const bool present = seed < one->size() && (*one)[seed].has_value();
      if (!present) result[seed].reset();
      if (result[seed]) *result[seed] += *(*one)[seed];
    }
  }
  for (std::optional<double>& sum : result) {
    if (sum) *sum /= static_cast<double>(all.size());
  }
  return result;
}

}  // namespace locus::results
