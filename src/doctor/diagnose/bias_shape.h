// SPDX-License-Identifier: Apache-2.0
// The shape of a bias matrix: what is masked, what the rest depends on, where it is linear, where it is constant.
#pragma once

#include <optional>
#include <vector>

#include "locus/doctor/diagnose_bias.h"

namespace locus::doctor {

/// A bias with its mask told apart. Query q stands at key keys - queries + q.
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
  /// The standard deviation of the noise that was added to each number, as measured; 0 for none.
  double noise() const { return noise_; }
  /// One query repeats nothing, and so shows no noise: what an explanation leaves over, [heads, queries, keys], does.
  void measure_noise(const std::vector<double>& explained);
  /// What a number may be off by besides its rounding: 11 standard deviations.
  double slack() const { return 11 * noise_; }
  /// Equal as far as storage and noise can tell: a number may be rounded, and so may the slope it was made from.
  bool equal(double a, double b) const;

  bool toeplitz() const;
  bool key_only() const;

  /// Per head the value at offset key - query, from -(keys - 1) on; absent where all entries are masked.
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

/// value = slope * x + intercept through every point within the storage's rounding; absent where there is no such line.
struct BiasLine {
  double slope = 0;
  double intercept = 0;
};
std::optional<BiasLine> line_through(const BiasShape& shape, const std::vector<std::pair<double, double>>& points);

}  // namespace locus::doctor
