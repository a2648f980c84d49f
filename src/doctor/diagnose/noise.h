// SPDX-License-Identifier: Apache-2.0
// Noise, measured: a rotation keeps the length of a pair, so how far lengths are off tells how far angles may be.
#pragma once

#include <vector>

namespace locus::doctor {

/// One deviation of a length that should be 0, and the size of what it was measured on.
struct Deviation {
  double size = 0;
  double off = 0;
};

/// Standard deviation of a coordinate as a function of the size of its pair: sqrt(absolute^2 + (relative size)^2).
struct Noise {
  double absolute = 0;
  double relative = 0;
  double at(double size) const;
};

/// Robust against a half of deviations that are no noise. `floor` is the least relative noise, that of the storage.
Noise measured_noise(std::vector<Deviation> deviations, double floor);

/// The value below which a share `at` of all lie; 0 for none.
double quantile(std::vector<double> values, double at);
double median(std::vector<double> values);

/// Where values lie densest: the common value of at least a third of them, whatever the others are.
double densest(std::vector<double> values);

}  // namespace locus::doctor
