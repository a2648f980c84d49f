// SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include <algorithm>

#include "locus/error.h"

namespace locus::bench {
namespace {

std::vector<Task> tasks_of(const std::string& group, bool quick) {
  if (group == "rotate") return rotate_tasks();
  if (group == "add") return add_tasks();
  if (group == "tables") return table_tasks();
  if (group == "attention") return attention_tasks(quick);
  return probe_tasks();
}

}  // namespace

const std::vector<std::string>& group_names() {
  static const std::vector<std::string> names = {"rotate", "add", "tables", "attention", "probe"};
  return names;
}

void run(const Plan& plan, const Listener& listener) {
  std::vector<Task> tasks;
  for (const std::string& group : group_names()) {
    if (std::find(plan.groups.begin(), plan.groups.end(), group) == plan.groups.end()) continue;
    for (Task& task : tasks_of(group, plan.quick)) {
      if (task.name.find(plan.containing) != std::string::npos) tasks.push_back(std::move(task));
    }
  }
  require(!tasks.empty(), "no line has '", plan.containing, "' in its name");
  for (std::size_t done = 0; done < tasks.size(); ++done) {
    Pairs pairs = plan.pairs;
    pairs.progress = [&](double part) { listener.progress(static_cast<double>(done) + part, tasks.size()); };
    pairs.progress(0);
    Line line = tasks[done].measure(pairs);
    line.group = tasks[done].group;
    line.name = tasks[done].name;
    listener.line(line);
  }
}

}  // namespace locus::bench
