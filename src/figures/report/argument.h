// SPDX-License-Identifier: Apache-2.0
// The argument for the default, in sentences: what the numbers of a run argue for, and how each such line stands in each task.
#pragma once

#include <string>
#include <vector>

#include "messages/words.h"
#include "results/ranking.h"

namespace locus::figures {

/// How a line stands in one task.
struct TaskCase {
  std::string task;  ///< its title
  std::string text;
};

/// A line, task by task.
struct LineCase {
  std::string opening;  ///< a sentence that names the line; ** around names
  std::vector<TaskCase> tasks;
};

/// Returns the sentence that says what the numbers argue for, or why they argue for nothing; ** around names.
std::string default_sentence(const results::Results& results, const results::Ranking& answer, const Words& words);

/// Returns the cases for the defaults, and that of plain RoPE for comparison if it is not one of them.
std::vector<LineCase> default_cases(const results::Results& results, const results::Ranking& answer,
                                    const Words& words);

/// "2 of 3".
std::string count_of(std::size_t count, std::size_t all, const Words& words);
/// Returns the standing of a line; null if it is not ranked.
const results::Standing* find_standing(const std::vector<results::Standing>& standings, const std::string& line);
/// Limits the displayed gain to 0 .. 1.
results::Estimate shown_gain(const results::RankedLine& row);

}  // namespace locus::figures
