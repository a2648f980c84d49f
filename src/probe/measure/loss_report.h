// SPDX-License-Identifier: Apache-2.0
// Losses by position in summary: means by bucket, where a rule breaks, and the chart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "figures/figure.h"

namespace locus::probe {

/// Positions [begin, end). The standard error assumes independent losses; those of a text are correlated, so it is
/// somewhat too small.
struct LossBucket {
  std::int64_t begin = 0, end = 0, count = 0;
  double mean = 0, standard_error = 0;
};

/// Between neighbouring `edges`, which must rise from 0 or more; buckets without a loss are left out, and the last one
/// is cut where the losses end.
std::vector<LossBucket> bucketed(std::span<const double> losses, std::span<const std::int64_t> edges);

/// 0, half the trained length, the trained length, twice, four times and eight times it.
std::vector<std::int64_t> default_edges(std::int64_t trained_length);

struct BreakRule {
  std::int64_t block = 32;     ///< positions that are judged together: a quarter of the trained length, at least 32
  double excess = 0.1;         ///< nats above the baseline that count (10 % of perplexity)
  double standard_errors = 3;  ///< by which the difference of the first block must exceed 0
};
BreakRule default_break_rule(std::int64_t trained_length);
/// The rule in words.
std::string describe(const BreakRule& rule);

/// A rule breaks at the first block that is worse than the baseline on the same tokens by more than the rule allows,
/// and is followed by another that is worse by more than its excess (or by none).
struct Breaking {
  std::optional<std::int64_t> position = {};  ///< where that block begins; absent: it holds as far as measured
  double excess = 0;                          ///< mean nats above the baseline from there on
};
Breaking find_break(std::span<const double> losses, std::span<const double> baseline, const BreakRule& rule);
/// `breaks at about position 640 (1.25 x the trained length): from there on 0.8 nats above the sliding window`.
std::string describe(const Breaking& breaking, std::int64_t measured, std::int64_t trained_length);

struct LossCurve {
  std::string name;  ///< "ntk:2", "dynamic_ntk:2 mixed", "sliding window"
  bool baseline = false;
  std::vector<double> losses = {};
  std::vector<LossBucket> buckets = {};
  Breaking breaking = {};  ///< of rules
};

/// Mean loss of each curve in `points` stretches of equal length, one line per curve, a rule at the trained length.
figures::Figure loss_figure(const std::string& model, std::span<const LossCurve> curves, std::int64_t trained_length,
                            std::int64_t points = 64);

}  // namespace locus::probe
