// SPDX-License-Identifier: Apache-2.0
// Section 6: how the lab was run, what it cost, and what more of it would change.
#include <cmath>

#include "figures/report/report_parts.h"
#include "locus/text.h"
#include "results/student_t.h"
#include "results/units.h"

namespace locus::figures {
namespace {

void add_facts(Page& page, const results::Run& run) {
  Table table;
  table.head = {{"", "tight"}, ""};
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) table.rows.push_back({name, value});
  };
  std::string seeds;
  for (const std::int64_t seed : run.seeds) seeds += (seeds.empty() ? "" : ", ") + std::to_string(seed);
  add("preset", run.preset);
  add("begun", run.created);
  add("finished", run.finished.empty() ? "not yet" : run.finished);
  add("work time of all workers", results::duration(run.seconds));
  add("trials",
      grouped(run.planned) + " planned, " + grouped(run.completed) + " finished, " + grouped(run.failed) + " failed");
  add("seeds", seeds);
  add("processor", run.machine.cpu);
  add("cores", grouped(run.machine.cores));
  add("memory", results::bytes(static_cast<double>(run.machine.memory_bytes)));
  add("SIMD", run.machine.simd);
  for (const auto& [name, version] : run.versions) add("version of " + name, version);
  add("training speed against torch's own operations",
      run.speed ? significant(run.speed->ratio, 4) + " times" : std::string("not measured"));
  page.table(table);
  if (!run.speed || run.speed->schemes.empty()) return;
  Table speeds;
  speeds.head = {{"scheme", "tight"}, {"steps per second", "number"}, {"in torch", "number"}, {"ratio", "number"}};
  const auto text = [](const std::optional<double>& value) { return value ? significant(*value) : std::string("-"); };
  for (const results::SchemeSpeed& one : run.speed->schemes) {
    speeds.rows.push_back(
        {one.scheme, significant(one.steps_per_second), text(one.torch_steps_per_second), text(one.ratio)});
  }
  page.begin_details("Training speed by scheme");
  page.table(speeds, "Steps per second of processor time on one thread, in the task " + run.speed->task + ".");
  page.end_details();
}

void add_budgets(Page& page, const results::Results& results) {
  Table table;
  table.head = {{"task", "tight"},    {"trained at", "number"},
                {"steps", "number"},  {"fine-tune steps", "number"},
                {"batch", "number"},  {"learning rate", "number"},
                {"layers", "number"}, {"heads", "number"},
                {"width", "number"},  "tested at"};
  for (const results::Task& task : results.tasks) {
    std::string lengths;
    for (const std::int64_t length : task.lengths) lengths += (lengths.empty() ? "" : ", ") + grouped(length);
    table.rows.push_back({task.name, grouped(task.trained_length), grouped(task.steps),
                          task.tune_steps > 0 ? grouped(task.tune_steps) : std::string("none"), grouped(task.batch),
                          task.learning_rate ? significant(*task.learning_rate) : std::string(), grouped(task.layers),
                          grouped(task.heads), grouped(task.width), lengths});
  }
  page.table(table,
             "The budget, the same for every scheme. So are the data and, where shapes allow, the initial weights.");
}

void add_failures(Page& page, const results::Run& run) {
  if (run.completed >= run.planned && run.failed == 0) return;
  page.paragraph(strong("Not every trial finished. ") +
                     Html("Of " + grouped(run.planned) + " trials " + grouped(run.completed) + " finished and " +
                          grouped(run.failed) + " failed; means are over the seeds that finished."),
                 "warning");
}

void add_failed_trials(Page& page, const results::Results& results) {
  if (results.failures.empty()) return;
  Table table;
  table.head = {{"task", "tight"}, {"scheme", "tight"}, {"seed", "number"}, "error"};
  for (const results::Failure& failure : results.failures) {
    table.rows.push_back({failure.task, failure.scheme, grouped(failure.seed), failure.error});
  }
  page.table(table, "Trials that failed.");
}

/// Half the width of an interval over n seeds is proportional to t / sqrt(n).
double reach(std::size_t seeds) {
  return results::student_t(static_cast<int>(seeds) - 1, 0.95) / std::sqrt(static_cast<double>(seeds));
}

void add_more(Page& page, const results::Results& results, const std::vector<results::TaskRanking>& answers) {
  page.section(3, "What more would change", "more");
  std::vector<Html> items;
  const std::size_t seeds = results.run.seeds.size();
  if (seeds < 2) {
    items.emplace_back("Seeds: one seed gives no intervals, so no difference is certain. Use at least three.");
  } else {
    items.push_back(Html("Seeds: at the same spread, 10 seeds instead of " + std::to_string(seeds) +
                         " would make the intervals " + fixed(reach(seeds) / reach(10), 1) +
                         (seeds < 10 ? " times narrower" : " times as narrow") +
                         ", and could separate more of the lines that lead together."));
  }
  for (const results::TaskRanking& answer : answers) {
    if (answer.not_learned.empty()) continue;
    items.push_back(
        Html("Steps: in " + answer.task->name + ", " + std::to_string(answer.not_learned.size()) +
             " of the schemes did not learn within " + grouped(answer.task->steps) +
             " steps. With more steps they might: this says what the budget allowed, not what they can do."));
  }
  items.emplace_back(
      "Size and data: the models are small and the tasks synthetic. What comes with scale (attention sinks, learned "
      "use "
      "of long contexts, fine-tuning on billions of tokens) is not measured here.");
  page.list(items);
}

}  // namespace

void add_run(Page& page, const results::Results& results, const results::Ranking& answer) {
  page.section(2, "How the lab was run", "run");
  add_failures(page, results.run);
  add_failed_trials(page, results);
  add_facts(page, results.run);
  add_budgets(page, results);
  add_more(page, results, answer.tasks);
}

}  // namespace locus::figures
