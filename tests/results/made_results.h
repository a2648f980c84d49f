// SPDX-License-Identifier: Apache-2.0
// Small results for tests.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "results/results.h"

namespace locus::results {

/// Per line, the main number of every seed at lengths 8 (trained) and 16. A uniform guess gives 0 if higher is
/// better, else 4; all lines have the same number of seeds.
struct MadeLine {
  std::string name;
  BySeed trained, beyond;
  bool learned = true;
  std::string base = {};  ///< the scheme that was trained, where it is another line
  bool tuned = false;
};

inline void add_task(Results& results, const std::string& task, bool higher_is_better,
                     const std::vector<MadeLine>& lines) {
  Task made;
  made.name = made.title = task;
  made.main = "score";
  made.higher_is_better = higher_is_better;
  made.is_loss = !higher_is_better;
  made.chance = higher_is_better ? 0 : 4;
  results.run.seeds.resize(lines.front().beyond.size());
  made.trained_length = 8;
  made.lengths = {8, 16};
  for (const MadeLine& line : lines) made.lines.push_back(line.name);
  results.tasks.push_back(made);
  for (const MadeLine& line : lines) {
    const bool known =
        std::any_of(results.lines.begin(), results.lines.end(), [&](const Line& one) { return one.name == line.name; });
    if (!known) {
      Line added;
      added.name = line.name;
      added.label = "the " + line.name;
      added.trained = line.base.empty() ? line.name : line.base;
      added.tuned = line.tuned;
      results.lines.push_back(added);
    }
    for (const auto& [length, values] : {std::pair(std::int64_t{8}, line.trained), {std::int64_t{16}, line.beyond}}) {
      Number number;
      number.task = task;
      number.line = line.name;
      number.name = "score";
      number.length = length;
      number.values = values;
      number.estimate = estimate(values);
      results.numbers.push_back(number);
    }
    results.outcomes.push_back({.task = task,
                                .line = line.name,
                                .learned = line.learned,
                                .in_range = {},
                                .beyond = {},
                                .rank = {},
                                .reason = {}});
  }
}

}  // namespace locus::results
