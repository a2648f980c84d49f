// SPDX-License-Identifier: Apache-2.0
#include "results/outcomes.h"

#include <algorithm>

#include "locus/text.h"
#include "results/standings.h"

namespace locus::results {
namespace {

const Number* in_range_of_trained(const Results& results, const Task& task, const std::string& line) {
  return results.main_number(task, results.line(line).trained, task.trained_length);
}

bool reaches(const Task& task, double value) {
  return task.learned_at && (value == *task.learned_at || task.is_better(value, *task.learned_at));
}

std::optional<double> mean_of(const BySeed& values) {
  const std::optional<Estimate> found = estimate(values);
  return found ? std::optional(found->mean) : std::nullopt;
}

/// Returns whether a number beyond the trained length is not finite.
bool diverges_beyond(const Results& results, const Task& task, const std::string& line) {
  return std::any_of(task.lengths.begin(), task.lengths.end(), [&](std::int64_t length) {
    const Number* number = length > task.trained_length ? results.main_number(task, line, length) : nullptr;
    return number != nullptr && !number->estimate;
  });
}

}  // namespace

bool has_learned(const Results& results, const Task& task, const std::string& line) {
  const Number* number = in_range_of_trained(results, task, line);
  return number != nullptr && number->estimate && reaches(task, number->estimate->mean);
}

std::string reason_of(const Results& results, const Task& task, const std::string& line, const Words& words) {
  const Number* number = in_range_of_trained(results, task, line);
  const std::string name = words.phrase(task.main);
  if (number == nullptr) return words(Message::reason_no_trial);
  if (!number->estimate) return words(Message::reason_not_finite, {{"number", name}});
  std::size_t seeds = 0, reached = 0;
  for (const std::optional<double>& value : number->values) {
    seeds += value ? 1 : 0;
    reached += value && reaches(task, *value) ? 1 : 0;
  }
  const std::string count =
      words(Message::reason_seeds, {{"reached", std::to_string(reached)}, {"all", std::to_string(seeds)}});
  if (!has_learned(results, task, line)) {
    return words(task.higher_is_better ? Message::reason_needs_least : Message::reason_needs_most,
                 {{"value", significant(number->estimate->mean)},
                  {"bar", significant(task.learned_at.value_or(0))},
                  {"seeds", count}});
  }
  if (diverges_beyond(results, task, line)) return words(Message::reason_diverges, {{"number", name}});
  return reached == seeds ? "" : words(Message::reason_some_seeds, {{"seeds", count}});
}

void fill_outcomes(Results& results) {
  results.outcomes.clear();
  for (const Task& task : results.tasks) {
    for (const std::string& line : task.lines) {
      results.outcomes.push_back({.task = task.name,
                                  .line = line,
                                  .learned = has_learned(results, task, line),
                                  .in_range = mean_of(averages(results, task, Range::trained, line)),
                                  .beyond = mean_of(averages(results, task, Range::beyond, line)),
                                  .rank = {},
                                  .reason = reason_of(results, task, line, Words())});
    }
  }
  for (const Task& task : results.tasks) {  // uses `learned` of all outcomes
    for (const Standing& standing : standings(results, task, ranked_range(task), task.lines)) {
      for (Outcome& outcome : results.outcomes) {
        if (outcome.task == task.name && outcome.line == standing.line) outcome.rank = standing.rank;
      }
    }
  }
}

std::vector<Pair> make_pairs(const Results& results) {
  std::vector<Pair> pairs;
  const std::string& baseline = results.run.baseline;
  for (const Task& task : results.tasks) {
    for (const std::string& line : task.lines) {
      if (line == baseline) continue;
      for (const std::int64_t length : task.lengths) {
        const Number* own = results.main_number(task, line, length);
        const Number* other = results.main_number(task, baseline, length);
        if (own == nullptr || other == nullptr || !own->estimate || !other->estimate) continue;
        const std::optional<Estimate> found = estimate(difference(own->values, other->values));
        if (found) pairs.push_back({task.name, task.main, length, line, baseline, *found});
      }
    }
  }
  return pairs;
}

}  // namespace locus::results
