// SPDX-License-Identifier: Apache-2.0
// The little statistics that the results need: a mean over seeds and its 95 % interval.
#pragma once

#include <optional>
#include <span>

namespace locus::lab {

/// The t with P(-t < T < t) = `confidence` for Student's T with `degrees` >= 1 degrees of freedom; relative error below
/// 1e-12. Error for degrees < 1 or a confidence outside (0, 1).
double student_t(int degrees, double confidence);

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
