// SPDX-License-Identifier: Apache-2.0
// Random positions and vectors, identical on every machine, and the vector operations that checks need.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "locus/doctor/check.h"
#include "locus/doctor/subject.h"

namespace locus::doctor {

inline constexpr double unit = 0x1p-53;  ///< unit roundoff of double

class Samples {
 public:
  explicit Samples(std::uint64_t seed) : random_(seed) {}

  /// Includes both ends.
  std::int64_t integer(std::int64_t first, std::int64_t last) { return random_.between(first, last); }
  /// Returns values from -1 to 1.
  std::vector<double> vector(std::int64_t size) {
    std::vector<double> values(static_cast<std::size_t>(size));
    for (double& value : values) value = static_cast<double>(integer(-1'000'000, 1'000'000)) * 1e-6;
    return values;
  }
  std::vector<std::size_t> permutation(std::size_t size) {
    std::vector<std::size_t> order(size);
    for (std::size_t i = 0; i < size; ++i) order[i] = i;
    for (std::size_t i = size; i > 1; --i) {
      std::swap(order[i - 1], order[static_cast<std::size_t>(integer(0, static_cast<std::int64_t>(i) - 1))]);
    }
    return order;
  }

 private:
  Random random_;
};

inline double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
inline double norm(std::span<const double> a) { return std::sqrt(dot(a, a)); }

/// Returns the larger one, or NaN if either is NaN. std::max would lose it.
inline double worse(double a, double b) { return a >= b ? a : std::isnan(a) ? a : b; }

inline double largest_difference(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) return HUGE_VAL;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = worse(std::fabs(a[i] - b[i]), largest);
  return largest;
}

/// Returns the ids to draw from: within `distance` of 0, or of the id of the range nearest to 0.
inline PositionRange around_zero(const PositionRange& range, Position distance) {
  const Position middle = std::clamp<Position>(0, range.first, range.last);
  return {std::max(range.first, middle - distance), std::min(range.last, middle + distance)};
}

/// Passes if value and bound are equal: for counts and for values that are exact by definition.
inline Check exactly(std::string name, std::string scheme, double value, double expected, std::string note = {}) {
  return {std::move(name), std::move(scheme), value, expected, value == expected, std::move(note)};
}

}  // namespace locus::doctor
