// SPDX-License-Identifier: Apache-2.0
// Summarises losses by position: means by bucket, where a rule breaks, and the chart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "figures/figure.h"

namespace locus::probe {

/// Positions [begin, end). The standard error assumes independent losses; losses of a text are correlated, so it is
/// slightly too small.
struct LossBucket {
  std::int64_t begin = 0, end = 0, count = 0;
  double mean = 0, standard_error = 0;
};

/// Averages losses between neighbouring `edges`. Omits buckets without a loss, and ends the last one where the losses
/// end.
/// Error: fewer than two edges, edges that do not rise from 0 or more.
std::vector<LossBucket> bucketed(std::span<const double> losses, std::span<const std::int64_t> edges);

/// Returns 0, and 1/2, 1, 2, 4 and 8 times the trained length.
std::vector<std::int64_t> default_edges(std::int64_t trained_length);

struct BreakRule {
  std::int64_t block = 32;     ///< positions per block: a quarter of the trained length, at least 32
  double excess = 0.1;         ///< nats above the baseline that count as worse (10 % of perplexity)
  double standard_errors = 3;  ///< that the difference of the first block must exceed
};
BreakRule default_break_rule(std::int64_t trained_length);
/// Describes the rule.
std::string describe(const BreakRule& rule);

/// A frequency rule breaks at the first block that is worse than the baseline on the same tokens by more than
/// BreakRule allows, if the next block, if any, is also worse by more than `excess`.
struct Breaking {
  std::optional<std::int64_t> position = {};  ///< start of that block; absent: it holds as far as measured
  double excess = 0;                          ///< mean nats above the baseline from there on
};
Breaking find_break(std::span<const double> losses, std::span<const double> baseline, const BreakRule& rule);
/// `breaks at about position 640 (1.25 x the trained length), from there on 0.8 nats above the sliding window`.
std::string describe(const Breaking& breaking, std::int64_t measured, std::int64_t trained_length);

struct LossCurve {
  std::string name;  ///< "ntk:2", "dynamic_ntk:2 mixed", "sliding window"
  bool baseline = false;
  std::vector<double> losses = {};
  std::vector<LossBucket> buckets = {};
  Breaking breaking = {};  ///< of rules
};

/// The mean loss of each curve over `points` intervals of equal length, and a vertical line at the trained length.
figures::Figure loss_figure(const std::string& model, std::span<const LossCurve> curves, std::int64_t trained_length,
                            std::int64_t points = 64);

}  // namespace locus::probe
