// SPDX-License-Identifier: Apache-2.0
#include "results/merge.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "locus/error.h"

namespace locus::results {
namespace {

auto settings_of(const Task& task) {
  return std::tie(task.main, task.trained_length, task.lengths, task.steps, task.tune_steps, task.batch,
                  task.learning_rate, task.layers, task.heads, task.width, task.chance, task.majority, task.learned_at);
}

void add_task(Results& all, const Task& task) {
  const auto same =
      std::find_if(all.tasks.begin(), all.tasks.end(), [&](const Task& one) { return one.name == task.name; });
  if (same == all.tasks.end()) {
    all.tasks.push_back(task);
    return;
  }
  require(settings_of(*same) == settings_of(task), "parts to merge have the task ", task.name, " with other settings");
  for (const std::string& line : task.lines) {
    require(!same->has_line(line), "two parts to merge have the line ", line, " of the task ", task.name);
    same->lines.push_back(line);
  }
}

void add_line(Results& all, const Line& line) {
  const bool known =
      std::any_of(all.lines.begin(), all.lines.end(), [&](const Line& one) { return one.name == line.name; });
  if (!known) all.lines.push_back(line);
}

/// A file has null for a number that was not finite and for one that is missing; the former has no mean either.
Number as_measured(Number number) {
  if (number.estimate) return number;
  for (std::optional<double>& value : number.values) {
    if (!value) value = std::numeric_limits<double>::quiet_NaN();
  }
  return number;
}

void add_run(Run& all, const Run& part) {
  require(part.preset == all.preset, "parts to merge have the presets ", all.preset, " and ", part.preset);
  require(part.seeds == all.seeds, "parts to merge have different seeds");
  require(part.baseline == all.baseline, "parts to merge have the baselines ", all.baseline, " and ", part.baseline);
  require(part.versions == all.versions, "parts to merge were made with different versions");
  all.created = std::min(all.created, part.created);
  all.finished = all.finished.empty() || part.finished.empty() ? "" : std::max(all.finished, part.finished);
  all.seconds += part.seconds;
  all.planned += part.planned;
  all.completed += part.completed;
  all.failed += part.failed;
  if (!all.speed) all.speed = part.speed;
}

template <class Item>
void append(std::vector<Item>& all, const std::vector<Item>& part) {
  all.insert(all.end(), part.begin(), part.end());
}

}  // namespace

Results merged(const std::vector<Results>& parts) {
  require(!parts.empty(), "there is no part to merge");
  Results all;
  for (const Results& part : parts) {
    if (&part == &parts.front()) {
      all.run = part.run;
    } else {
      add_run(all.run, part.run);
    }
    for (const Task& task : part.tasks) add_task(all, task);
    for (const Line& line : part.lines) add_line(all, line);
    for (const Number& number : part.numbers) all.numbers.push_back(as_measured(number));
    append(all.costs, part.costs);
    append(all.failures, part.failures);
    append(all.trials, part.trials);
    append(all.repeats, part.repeats);
  }
  conclude(all);
  return all;
}

}  // namespace locus::results
