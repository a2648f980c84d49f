// SPDX-License-Identifier: Apache-2.0
// Timing on a noisy machine: a call and its limit are timed back to back, many times, and compared in pairs.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace locus::bench {

/// What one call took, in seconds.
struct Times {
  double clock = 0;   ///< by the clock
  double thread = 0;  ///< processor time of the calling thread: waiting for a core does not count
  double others = 0;  ///< processor time of the other threads of the process
};

/// Times `repeats` calls together and divides by their number.
Times times_of(const std::function<void()>& call, int repeats);
/// The same by the clock alone.
double seconds_of(const std::function<void()>& call, int repeats);

/// Whether other threads worked for these calls, so that only the clock tells how long they took: they used more than
/// a tenth of the processor time of the calling thread.
bool used_threads(std::span<const Times> calls);

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
  bool by_clock = false;  ///< one of the two used threads; else the times are processor times of one thread
};

/// The options of a comparison: `rounds` pairs after two that are dropped, each call repeated within a round until it
/// takes about `round_seconds`. `progress` is called after each round with the share done, from 0 to 1; it may throw
/// to stop.
struct Pairs {
  int rounds = 41;
  double round_seconds = 0.02;
  std::function<void(double)> progress = {};
};

/// Times `ours` and `limit` back to back: by the processor time of this thread, or by the clock if one of them used
/// other threads.
Comparison compare(const std::function<void()>& ours, const std::function<void()>& limit, const Pairs& pairs);

/// Returns the fastest of the calls, by the median of seven rounds in turn; one that is 1.5 times as slow as another is
/// dropped earlier.
std::function<void()> fastest(const std::vector<std::function<void()>>& calls, const Pairs& pairs);

}  // namespace locus::bench
