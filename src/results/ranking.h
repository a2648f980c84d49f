// SPDX-License-Identifier: Apache-2.0
// The one ranking: of lines over all tasks, by rules that know numbers only. The terminal, the report and results.json
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
  std::vector<Standing> after_tuning;    ///< all lines, over ranked_range(task); empty where none was fine-tuned
  std::vector<std::string> not_learned;  ///< plain lines
  BySeed zeros;  ///< the gain of a line that did not learn: 0 for every seed of which the task has a number

  /// Every ranked line of the task: `rank` of its outcomes.
  const std::vector<Standing>& all() const { return after_tuning.empty() ? beyond : after_tuning; }
};

/// A line without fine-tuning, over all tasks.
struct RankedLine {
  Standing gain;                ///< the mean gain over the scored tasks; leads: the seeds cannot tell it from the first
  const Task* worst = nullptr;  ///< the scored task with the least gain; null where no task is scored
  double worst_gain = 0;
  std::size_t tested = 0;  ///< tasks that the line was planned in
  std::size_t learned = 0;
  std::size_t leads_beyond = 0;  ///< tasks
};

/// The gain of a line in a task is (score - level) / (best - level): 0 at the level of an answer that ignores the input,
/// 1 for the best line without fine-tuning. The score is the main number over ranked_range(task). Not learned, not
/// tested or below the level: 0. A task in which no line is better than the level is not scored.
struct Ranking {
  std::vector<TaskRanking> tasks;
  std::size_t scored = 0;         ///< tasks
  std::vector<RankedLine> lines;  ///< by mean gain
  /// The first, and what its seeds cannot tell from it; empty where no task is scored or nothing can be told.
  std::vector<std::string> defaults;
  bool can_tell = false;  ///< a task has two lines with two seeds or more
};

/// Points into `results`.
Ranking ranking_of(const Results& results);

}  // namespace locus::results
