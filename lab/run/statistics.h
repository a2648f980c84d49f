// SPDX-License-Identifier: Apache-2.0
// The little statistics that the results need: a mean over seeds and its 95 % interval.
#pragma once

#include <optional>
#include <span>

#include "figures/report/student_t.h"

namespace locus::lab {

struct Interval {
  double low = 0;
  double high = 0;
};

struct Estimate {
  double mean = 0;
  std::optional<Interval> interval;  ///< 95 % by Student's t; absent for one value, which says nothing about spread
};

/// Error for no values.
Estimate estimate(std::span<const double> values);

}  // namespace locus::lab
