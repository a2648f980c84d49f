// SPDX-License-Identifier: Apache-2.0
// Results made up for tests, a few numbers at a time.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "figures/report/results.h"

namespace locus::figures {

/// Per line, the main number of every seed at lengths 8 (trained) and 16. A uniform guess gives 0 where higher is
/// better, 4 where lower is; all lines have as many seeds.
struct MadeLine {
  std::string name;
  std::vector<std::optional<double>> trained, beyond;
  bool learned = true;
  std::string base = {};  ///< the scheme it was trained as, where that is another
  bool tuned = false;
};

inline void add_task(Results& results, const std::string& task, bool higher_is_better,
                     const std::vector<MadeLine>& lines) {
  ResultTask made;
  made.name = made.title = task;
  made.main = "score";
  made.higher_is_better = higher_is_better;
  made.is_loss = !higher_is_better;
  made.chance = higher_is_better ? 0 : 4;
  results.seeds.resize(lines.front().beyond.size());
  made.train_length = 8;
  made.lengths = {8, 16};
  results.tasks.push_back(made);
  for (const MadeLine& line : lines) {
    const bool known = std::any_of(results.lines.begin(), results.lines.end(),
                                   [&](const ResultLine& one) { return one.name == line.name; });
    if (!known) {
      ResultLine added;
      added.name = line.name;
      added.label = "the " + line.name;
      added.trained = line.base.empty() ? line.name : line.base;
      added.tuned = line.tuned;
      results.lines.push_back(added);
    }
    for (const auto& [length, values] : {std::pair(std::int64_t{8}, line.trained), {std::int64_t{16}, line.beyond}}) {
      ResultNumber number;
      number.task = task;
      number.line = line.name;
      number.name = "score";
      number.length = length;
      number.values = values;
      results.numbers.push_back(number);
    }
    results.verdicts.push_back(
        {.task = task, .line = line.name, .learned = line.learned, .in_range = {}, .beyond = {}, .reason = {}});
  }
}

}  // namespace locus::figures
