// SPDX-License-Identifier: Apache-2.0
// Whether each line learned its task, how far it holds, and how it compares with the baseline.
#pragma once

#include "messages/words.h"
#include "results/results.h"

namespace locus::results {

/// Whether the scheme behind a line reached `learned_at` at the trained length, in the mean over seeds. A stretched line
/// is judged by the scheme that was trained: what stretching does to it is a result, not a failure to learn.
bool has_learned(const Results& results, const Task& task, const std::string& line);

/// Why a line is not ranked in a task, or what to know beside its rank; empty where there is nothing to say.
std::string reason_of(const Results& results, const Task& task, const std::string& line, const Words& words);

/// Makes `outcomes` from the estimates of the numbers. `rank` is the standing among all lines that learned the task.
void fill_outcomes(Results& results);

/// Every line but the baseline at every length that both have.
std::vector<Pair> make_pairs(const Results& results);

}  // namespace locus::results
