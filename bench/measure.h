// SPDX-License-Identifier: Apache-2.0
// Honest timing on a noisy machine: a thing and its limit are measured back to back, many times, and compared in pairs.
#pragma once

#include <functional>
#include <vector>

namespace locus::bench {

/// Seconds of one call, where `repeats` calls are timed together.
double seconds_of(const std::function<void()>& call, int repeats);

/// The median of paired ratios with its 95 % interval (of the median, by order statistics).
struct Ratio {
  double median = 0;
  double low = 0;
  double high = 0;
  /// An interval wider than 5 % of the median cannot tell.
  bool noisy() const { return high - low > 0.05 * median; }
};

Ratio median_with_interval(std::vector<double> ratios);

/// What pairs of measurements say.
struct Comparison {
  Ratio share;               ///< limit time / thing time: 1 is as fast as the limit
  double thing_seconds = 0;  ///< best of the rounds
  double limit_seconds = 0;
};

/// How a comparison is made: `rounds` pairs after two that are dropped, each call repeated within a round until it
/// takes about `round_seconds`. `progress` hears after each round how much is done, from 0 to 1; it may throw to stop.
struct Pairs {
  int rounds = 41;
  double round_seconds = 0.02;
  std::function<void(double)> progress = {};
};

/// Times `thing` and `limit` back to back.
Comparison compare(const std::function<void()>& thing, const std::function<void()>& limit, const Pairs& pairs);

}  // namespace locus::bench
