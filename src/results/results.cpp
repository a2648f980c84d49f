// SPDX-License-Identifier: Apache-2.0
#include "results/results.h"

#include <algorithm>

#include "locus/error.h"

namespace locus::results {
namespace {

template <class T>
const T* find_named(const std::vector<T>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const T& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

bool Task::has_line(const std::string& wanted) const {
  return std::find(lines.begin(), lines.end(), wanted) != lines.end();
}

const Line& Results::line(const std::string& name) const {
  const Line* found = find_named(lines, name);
  require(found != nullptr, "the results have no line called \"", name, "\"");
  return *found;
}

std::string Results::label(const std::string& name) const {
  const Line* found = find_named(lines, name);
  return found == nullptr ? name : found->label;
}

const Task* Results::find_task(const std::string& name) const { return find_named(tasks, name); }

const Outcome* Results::outcome(const std::string& task, const std::string& line) const {
  const auto found = std::find_if(outcomes.begin(), outcomes.end(),
                                  [&](const Outcome& one) { return one.task == task && one.line == line; });
  return found == outcomes.end() ? nullptr : &*found;
}

bool Results::learned(const std::string& task, const std::string& line) const {
  const Outcome* found = outcome(task, line);
  return found != nullptr && found->learned;
}

const Number* Results::main_number(const Task& task, const std::string& line, std::int64_t length,
                                   std::int64_t place) const {
  const auto found = std::find_if(numbers.begin(), numbers.end(), [&](const Number& one) {
    return one.length == length && one.place == place && one.line == line && one.task == task.name &&
           one.name == task.main;
  });
  return found == numbers.end() ? nullptr : &*found;
}

void remove_curves(Results& results) {
  std::erase_if(results.numbers, [](const Number& number) {
    return number.name == "train_loss" || number.name.ends_with("_by_position");
  });
}

}  // namespace locus::results
