// SPDX-License-Identifier: Apache-2.0
// The mean over seeds and its 95 % interval.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace locus::results {

/// One number per seed of the run, in the order of its seeds; absent if there is none.
using BySeed = std::vector<std::optional<double>>;

struct Estimate {
  double mean = 0;
  std::optional<double> low, high;  ///< 95 % by Student's t; absent for one seed, which shows no spread
  std::size_t seeds = 0;            ///< number of seeds in the mean

  bool operator==(const Estimate&) const = default;
};

/// Absent for no values, and if one is not finite: a trial that diverged must not vanish from a mean.
std::optional<Estimate> estimate(std::span<const double> values);
/// The same over the seeds that have a number.
std::optional<Estimate> estimate(const BySeed& values);

/// Returns a - b for each seed that both have.
BySeed difference(const BySeed& a, const BySeed& b);

/// Returns the mean of several numbers for each seed that all of them have; empty for none.
BySeed mean_by_seed(std::span<const BySeed* const> all);

}  // namespace locus::results
