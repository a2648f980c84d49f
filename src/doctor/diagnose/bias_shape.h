// SPDX-License-Identifier: Apache-2.0
// The shape of a bias matrix: which entries are masked, and whether the others depend on the offset or the key alone.
#pragma once

#include <optional>
#include <vector>

#include "locus/doctor/diagnose_bias.h"

namespace locus::doctor {

/// A bias separated from its mask. Query q has the position of key keys - queries + q.
class BiasShape {
 public:
  explicit BiasShape(const BiasDump& dump);

  const BiasDump& dump() const { return dump_; }
  double at(std::int64_t head, std::int64_t query, std::int64_t key) const {
    return dump_.bias[index(head, query, key)];
  }
  bool masked(std::int64_t head, std::int64_t query, std::int64_t key) const {
    return masked_[index(head, query, key)];
  }
  std::int64_t masked_count() const;
  bool causal_mask() const;
  Position position(std::int64_t query) const { return dump_.keys - dump_.queries + query; }

  ElementType storage() const { return storage_; }
  /// The measured standard deviation of the noise of each number; 0 without noise.
  double noise() const { return noise_; }
  /// Measures the noise of a dump of one query, which has no repeated entries, by its difference from `explained`
  /// [heads, queries, keys]. The smallest result counts.
  void measure_noise(const std::vector<double>& explained);
  /// The error to allow in addition to rounding: 11 standard deviations of the measured noise; 0 without noise.
  double slack() const { return 11 * noise_; }
  /// True if two numbers are equal within rounding and noise. Both the number and the slope behind it may be rounded.
  bool equal(double a, double b) const;

  bool toeplitz() const;
  bool key_only() const;

  /// Returns the value of one head at each offset key - query, from -(keys - 1). Absent: all entries there are masked.
  std::vector<std::optional<double>> by_offset(std::int64_t head) const;
  std::vector<std::optional<double>> by_key(std::int64_t head) const;

 private:
  struct Step {
    double size, off;
  };
  double noise_in(std::vector<Step> steps) const;
  double step_noise(std::int64_t key_step) const;
  double bend_noise() const;
  double loudest() const;
  std::size_t index(std::int64_t head, std::int64_t query, std::int64_t key) const {
    return static_cast<std::size_t>((head * dump_.queries + query) * dump_.keys + key);
  }
  const BiasDump& dump_;
  std::vector<bool> masked_;
  ElementType storage_;
  double unit_;
  double noise_ = 0;
};

/// The line value = slope * x + intercept through all points, within rounding. Absent if there is none.
struct BiasLine {
  double slope = 0;
  double intercept = 0;
};
std::optional<BiasLine> line_through(const BiasShape& shape, const std::vector<std::pair<double, double>>& points);

}  // namespace locus::doctor
