// SPDX-License-Identifier: Apache-2.0
// Measures noise. A rotation keeps the length of a pair, so the error of the lengths bounds the error of the angles.
#pragma once

#include <vector>

namespace locus::doctor {

/// The error of a length that should be 0, and the size of the pair it was measured on.
struct Deviation {
  double size = 0;
  double off = 0;
};

/// The standard deviation of a coordinate as a function of its pair's size: sqrt(absolute^2 + (relative size)^2).
struct Noise {
  double absolute = 0;
  double relative = 0;
  double at(double size) const;
};

/// Robust if up to half of the deviations are not noise. `floor` is the least relative noise: that of the storage type.
Noise measured_noise(std::vector<Deviation> deviations, double floor);

/// Returns the value that a share `at` of all values lies below; 0 for no values.
double quantile(std::vector<double> values, double at);
double median(std::vector<double> values);

/// Returns the value where values are densest: the common value of at least a third of them.
double densest(std::vector<double> values);

}  // namespace locus::doctor
