// SPDX-License-Identifier: Apache-2.0
// Compares what papers claim about behaviour beyond the trained length with what a run measured.
#pragma once

#include "messages/words.h"
#include "results/results.h"

namespace locus::results {

/// Returns the share of what a line learned, above the level, that it loses between the trained length and the longest:
/// (in range - longest) / (in range - level), seed by seed. 0: flat; 1: everything. Empty if a number is missing or not
/// finite.
BySeed share_lost(const Results& results, const Task& task, const std::string& line);

/// Decides each paper claim by a rule over 95 % intervals, which `seen` states. "cannot tell" if the interval does not
/// decide, there is one seed, or a scheme did not learn the task.
std::vector<PaperClaim> make_paper_claims(const Results& results, const Words& words);

}  // namespace locus::results
