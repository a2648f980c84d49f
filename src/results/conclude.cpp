// SPDX-License-Identifier: Apache-2.0
// Computes everything that follows from the values of the trials.
#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

#include "results/outcomes.h"
#include "results/paper_claims.h"
#include "results/results.h"

namespace locus::results {
namespace {

/// If a task's main number exists by place only (depths), adds its mean over places for the whole sequence.
void add_means_over_places(Results& results, const Task& task) {
  std::map<std::pair<std::string, std::int64_t>, std::vector<const Number*>> by_length;
  for (const Number& number : results.numbers) {
    if (number.task == task.name && number.name == task.main)
      by_length[{number.line, number.length}].push_back(&number);
  }
  std::vector<Number> means;
  for (const auto& [key, places] : by_length) {
    if (std::any_of(places.begin(), places.end(), [](const Number* one) { return one->place < 0; })) continue;
    std::vector<const BySeed*> values;
    for (const Number* one : places) values.push_back(&one->values);
    means.push_back({.task = task.name,
                     .line = key.first,
                     .name = task.main,
                     .length = key.second,
                     .values = mean_by_seed(values)});
  }
  results.numbers.insert(results.numbers.end(), means.begin(), means.end());
}

std::size_t place_in(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// Sorts by task and line in the order of the run, then by name, length and place.
void order(Results& results) {
  std::vector<std::string> tasks, lines;
  for (const Task& task : results.tasks) tasks.push_back(task.name);
  for (const Line& line : results.lines) lines.push_back(line.name);
  std::map<std::string, std::size_t> task_place, line_place;
  for (const Number& number : results.numbers) {
    task_place.try_emplace(number.task, place_in(tasks, number.task));
    line_place.try_emplace(number.line, place_in(lines, number.line));
  }
  const auto key = [&](const Number& one) {
    return std::tuple(task_place.at(one.task), line_place.at(one.line), std::string_view(one.name), one.length,
                      one.place);
  };
  std::stable_sort(results.numbers.begin(), results.numbers.end(),
                   [&](const Number& a, const Number& b) { return key(a) < key(b); });
}

}  // namespace

void conclude(Results& results) {
  for (const Task& task : results.tasks) add_means_over_places(results, task);
  order(results);
  for (Number& number : results.numbers) {
    number.estimate = estimate(number.values);
    for (std::optional<double>& value : number.values) {
      if (value && !std::isfinite(*value)) value.reset();
    }
  }
  fill_outcomes(results);
  results.pairs = make_pairs(results);
  results.paper_claims = make_paper_claims(results, Words());
}

}  // namespace locus::results
