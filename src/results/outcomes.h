// SPDX-License-Identifier: Apache-2.0
// Whether each line learned its task, how far it holds, and how it compares with the baseline.
#pragma once

#include "messages/words.h"
#include "results/results.h"

namespace locus::results {

/// Returns whether the line's scheme reached `learned_at` at the trained length, in the mean over seeds. A stretched
/// line is judged by its plain line: a stretched line that performs badly is a result, not a failure to learn.
bool has_learned(const Results& results, const Task& task, const std::string& line);

/// Returns why a line is not ranked in a task, or a remark on its rank; empty if there is neither.
std::string reason_of(const Results& results, const Task& task, const std::string& line, const Words& words);

/// Fills `outcomes` from the estimates of the numbers. `rank` is the rank among all lines that learned the task.
void fill_outcomes(Results& results);

/// Compares every line except the baseline with the baseline, at every length that both have.
std::vector<Pair> make_pairs(const Results& results);

}  // namespace locus::results
