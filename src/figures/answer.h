// SPDX-License-Identifier: Apache-2.0
// Which scheme to use when, by rules that know numbers only. The report states the rules beside what came of them.
#pragma once

#include <string>
#include <vector>

#include "figures/standing.h"

namespace locus::figures {

struct TaskAnswer {
  const ResultTask* task = nullptr;
  std::vector<Standing> in_range;        ///< schemes as they were trained, at the training length
  std::vector<Standing> beyond;          ///< all lines without further training, above it
  std::vector<Standing> after_tuning;    ///< all lines above it; empty where none was tuned
  std::vector<std::string> not_learned;  ///< schemes as they were trained
};

struct OverallRow {
  std::string line;
  std::size_t tested = 0;  ///< tasks with a verdict
  std::size_t learned = 0;
  std::size_t leads_in_range = 0;  ///< of the scheme it was trained as
  std::size_t leads_beyond = 0;
  double mean_place = 0;  ///< among those that learned, above the training length; 0 where it learned nothing
};

/// Lines without further training are ordered by the tasks in which they lead above the training length, then by those
/// in which they lead at it, then by those learned, then by their mean place.
struct Answer {
  std::vector<TaskAnswer> tasks;
  std::vector<OverallRow> rows;
  /// The rows that the first three counts put first; empty where the first leads nowhere, or nothing can be told.
  std::vector<std::string> defaults;
  bool can_tell = false;  ///< at least one task has lines with two seeds or more
};

Answer answer_of(const Results& results);

}  // namespace locus::figures
