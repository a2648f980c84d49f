// SPDX-License-Identifier: Apache-2.0
// What papers claim about behaviour beyond the trained length, compared with what this run saw.
#pragma once

#include "messages/words.h"
#include "results/results.h"

namespace locus::results {

/// The share of what a line learned, over the level, that it loses between the trained length and the longest one:
/// (in range - longest) / (in range - level), seed by seed. 0: flat; 1: all of it. Empty where a number is missing or
/// not finite.
BySeed share_lost(const Results& results, const Task& task, const std::string& line);

/// Each is decided by a rule over 95 % intervals, which `seen` states. "cannot tell" where the interval does not decide,
/// with one seed, and where a scheme did not learn the task.
std::vector<PaperClaim> make_paper_claims(const Results& results, const Words& words);

}  // namespace locus::results
