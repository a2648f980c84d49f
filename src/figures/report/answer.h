// SPDX-License-Identifier: Apache-2.0
// Which scheme to use when, by rules that know numbers only. The report states the rules beside what came of them.
#pragma once

#include <string>
#include <vector>

#include "figures/report/standing.h"

namespace locus::figures {

struct TaskAnswer {
  const ResultTask* task = nullptr;
  std::vector<Standing> in_range;        ///< schemes as they were trained, at the training length
  std::vector<Standing> beyond;          ///< all lines without further training, above it
  std::vector<Standing> after_tuning;    ///< all lines above it; empty where none was tuned
  std::vector<std::string> not_learned;  ///< schemes as they were trained
};

/// A line without further training, over all tasks.
struct OverallRow {
  Standing share;  ///< of the gain of each task's best, averaged over the scored tasks; leads: not told from the first
  const ResultTask* worst = nullptr;  ///< the scored task in which the share is smallest; none where none is scored
  double worst_share = 0;
  std::size_t tested = 0;  ///< tasks with a verdict
  std::size_t learned = 0;
  std::size_t leads_beyond = 0;
};

/// In a task, the share of a line is how far its number beyond the training length comes from the best answer that
/// ignores the input (where the task has none, from a uniform guess), which is 0, to the best line, which is 1; not
/// learned, not tested or worse than that answer: 0. Tasks in which nothing is better than that answer are not scored.
struct Answer {
  std::vector<TaskAnswer> tasks;
  std::size_t scored = 0;
  std::vector<OverallRow> rows;  ///< by their mean share
  /// The first, and what its seeds cannot tell from it; empty where nothing is scored, or nothing can be told.
  std::vector<std::string> defaults;
  bool can_tell = false;  ///< at least one task has lines with two seeds or more
};

Answer answer_of(const Results& results);

}  // namespace locus::figures
