// SPDX-License-Identifier: Apache-2.0
// Timing on a noisy machine: a call and its limit are timed back to back, many times, and compared in pairs.
#pragma once

#include <functional>
#include <vector>

namespace locus::bench {

/// Returns the seconds of one call; `repeats` calls are timed together.
double seconds_of(const std::function<void()>& call, int repeats);

/// The median of paired ratios with its 95 % interval (of the median, by order statistics).
struct Ratio {
  double median = 0;
  double low = 0;
  double high = 0;
  /// Whether the interval is wider than 5 % of the median, too wide for a verdict.
  bool noisy() const { return high - low > 0.05 * median; }
};

Ratio median_with_interval(std::vector<double> ratios);

/// The result of a comparison.
struct Comparison {
  Ratio share;             ///< limit time / our time: 1 is as fast as the limit
  double our_seconds = 0;  ///< best of the rounds
  double limit_seconds = 0;
};

/// The options of a comparison: `rounds` pairs after two that are dropped, each call repeated within a round until it
/// takes about `round_seconds`. `progress` is called after each round with the share done, from 0 to 1; it may throw
/// to stop.
struct Pairs {
  int rounds = 41;
  double round_seconds = 0.02;
  std::function<void(double)> progress = {};
};

/// Times `ours` and `limit` back to back.
Comparison compare(const std::function<void()>& ours, const std::function<void()>& limit, const Pairs& pairs);

}  // namespace locus::bench
