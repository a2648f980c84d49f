// SPDX-License-Identifier: Apache-2.0
// The single ranking of lines over all tasks. It depends on numbers only. The terminal, the report and results.json
// show it.
#pragma once

#include <string>
#include <vector>

#include "results/standings.h"

namespace locus::results {

struct TaskRanking {
  const Task* task = nullptr;
  std::vector<Standing> in_range;        ///< plain lines at the trained length
  std::vector<Standing> beyond;          ///< lines without fine-tuning, over ranked_range(task)
  std::vector<Standing> after_tuning;    ///< all lines, over ranked_range(task); empty if none was fine-tuned
  std::vector<std::string> not_learned;  ///< plain lines
  BySeed zeros;                          ///< the gain of a line that did not learn: 0 for every seed with a number

  /// Returns every ranked line of the task: `rank` of its outcomes.
  const std::vector<Standing>& all() const { return after_tuning.empty() ? beyond : after_tuning; }
};

/// A line without fine-tuning, over all tasks.
struct RankedLine {
  Standing gain;  ///< the mean gain over the scored tasks; leads: the seeds do not distinguish it from the first
  const Task* worst = nullptr;  ///< the scored task with the least gain; null if no task is scored
  double worst_gain = 0;
  std::size_t tested = 0;  ///< number of tasks planned for the line
  std::size_t learned = 0;
  std::size_t leads_beyond = 0;  ///< number of tasks
};

/// The gain of a line in a task is (score - level) / (best - level): 0 at the level of an answer that ignores the
/// input, 1 for the best line without fine-tuning. The score is the main number over ranked_range(task). A line that
/// did not learn, was not tested or is below the level has gain 0. A task in which no line exceeds the level is not
/// scored.
struct Ranking {
  std::vector<TaskRanking> tasks;
  std::size_t scored = 0;         ///< number of tasks
  std::vector<RankedLine> lines;  ///< by mean gain
  /// The first line, and those that its seeds do not distinguish from it; empty if no task is scored or the seeds do
  /// not decide.
  std::vector<std::string> defaults;
  bool can_tell = false;  ///< a task has two lines with at least two seeds
};

/// The result points into `results`.
Ranking ranking_of(const Results& results);

}  // namespace locus::results
