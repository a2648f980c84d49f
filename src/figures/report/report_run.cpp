// SPDX-License-Identifier: Apache-2.0
// How the lab was run, its cost, and what a larger run would change.
#include <cmath>

#include "figures/report/report_parts.h"
#include "locus/text.h"
#include "results/student_t.h"
#include "results/units.h"

namespace locus::figures {
namespace {

void add_speeds(Page& page, const results::Speed& speed) {
  if (speed.schemes.empty()) return;
  const Words& words = page.words();
  Table table;
  table.head = {{words(Message::head_scheme), "tight"},
                {words(Message::head_steps_per_second), "number"},
                {words(Message::head_in_torch), "number"},
                {words(Message::head_ratio), "number"}};
  const auto text = [](const std::optional<double>& value) { return value ? significant(*value) : std::string("-"); };
  for (const results::SchemeSpeed& one : speed.schemes) {
    table.rows.push_back(
        {one.scheme, significant(one.steps_per_second), text(one.torch_steps_per_second), text(one.ratio)});
  }
  page.begin_details(words(Message::run_speed_fold));
  page.table(table, words(Message::run_speed_caption, {{"task", speed.task}}));
  page.end_details();
}

void add_facts(Page& page, const results::Run& run) {
  const Words& words = page.words();
  Table table;
  table.head = {{"", "tight"}, ""};
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) table.rows.push_back({name, value});
  };
  add(words(Message::run_preset), run.preset);
  add(words(Message::run_begun), run.created);
  add(words(Message::run_finished), run.finished.empty() ? words(Message::run_not_yet) : run.finished);
  add(words(Message::run_work_time), results::duration(run.seconds));
  add(words(Message::run_trials), words(Message::run_trial_counts, {{"planned", words.grouped(run.planned)},
                                                                    {"finished", words.grouped(run.completed)},
                                                                    {"failed", words.grouped(run.failed)}}));
  add(words(Message::run_seeds), joined(run.seeds));
  add(words(Message::run_processor), run.machine.cpu);
  add(words(Message::run_cores), words.grouped(run.machine.cores));
  add(words(Message::run_memory), results::bytes(static_cast<double>(run.machine.memory_bytes)));
  add("SIMD", run.machine.simd);
  for (const auto& [name, version] : run.versions) {
    add(words(Message::run_version, {{"name", words.phrase(name)}}), version);
  }
  add(words(Message::run_speed), run.speed
                                     ? words(Message::run_speed_ratio, {{"ratio", significant(run.speed->ratio, 4)}})
                                     : words(Message::run_not_measured));
  page.table(table);
  if (run.speed) add_speeds(page, *run.speed);
}

void add_budgets(Page& page, const results::Results& results) {
  const Words& words = page.words();
  const auto number = [&](Message head) { return Cell(Html(words(head)), "number"); };
  Table table;
  table.head = {{words(Message::head_task), "tight"}, number(Message::head_trained_at),
                number(Message::head_steps),          number(Message::head_tune_steps),
                number(Message::head_batch),          number(Message::head_learning_rate),
                number(Message::head_layers),         number(Message::head_heads),
                number(Message::head_width),          words(Message::head_tested_at)};
  for (const results::Task& task : results.tasks) {
    std::vector<std::string> lengths;
    for (const std::int64_t length : task.lengths) lengths.push_back(words.grouped(length));
    table.rows.push_back(
        {task.name, words.grouped(task.trained_length), words.grouped(task.steps),
         task.tune_steps > 0 ? words.grouped(task.tune_steps) : words(Message::run_none), words.grouped(task.batch),
         task.learning_rate ? significant(*task.learning_rate) : std::string(), words.grouped(task.layers),
         words.grouped(task.heads), words.grouped(task.width), joined(lengths)});
  }
  page.table(table, words(Message::run_budget));
}

void add_failures(Page& page, const results::Run& run) {
  if (run.completed >= run.planned && run.failed == 0) return;
  const Words& words = page.words();
  page.paragraph(prose(words(Message::run_unfinished, {{"planned", words.grouped(run.planned)},
                                                       {"finished", words.grouped(run.completed)},
                                                       {"failed", words.grouped(run.failed)}})),
                 "warning");
}

void add_failed_trials(Page& page, const results::Results& results) {
  if (results.failures.empty()) return;
  const Words& words = page.words();
  Table table;
  table.head = {{words(Message::head_task), "tight"},
                {words(Message::head_scheme), "tight"},
                {words(Message::head_seed), "number"},
                words(Message::head_error)};
  for (const results::Failure& failure : results.failures) {
    table.rows.push_back({failure.task, failure.scheme, std::to_string(failure.seed),
                          element("span", Html(failure.error), "lang=\"en\"")});
  }
  page.table(table, words(Message::run_failed_trials));
}

/// Half the width of an interval over n seeds is proportional to t / sqrt(n).
double reach(std::size_t seeds) {
  return results::student_t(static_cast<int>(seeds) - 1, 0.95) / std::sqrt(static_cast<double>(seeds));
}

void add_more(Page& page, const results::Results& results, const std::vector<results::TaskRanking>& answers) {
  const Words& words = page.words();
  page.section(3, words(Message::more_title), "more");
  std::vector<Html> items;
  const std::size_t seeds = results.run.seeds.size();
  if (seeds < 2) {
    items.emplace_back(words(Message::more_one_seed));
  } else if (seeds < 10) {
    items.emplace_back(words(Message::more_seeds_narrower,
                             {{"seeds", std::to_string(seeds)}, {"times", fixed(reach(seeds) / reach(10), 1)}}));
  }
  for (const results::TaskRanking& answer : answers) {
    if (answer.not_learned.empty()) continue;
    items.emplace_back(words(Message::more_steps, {{"task", answer.task->name},
                                                   {"count", std::to_string(answer.not_learned.size())},
                                                   {"steps", words.grouped(answer.task->steps)}}));
  }
  items.emplace_back(words(Message::more_scale));
  page.list(items);
}

}  // namespace

void add_run(Page& page, const results::Results& results, const results::Ranking& answer) {
  page.section(2, page.words()(Message::run_title), "run");
  add_failures(page, results.run);
  add_failed_trials(page, results);
  add_facts(page, results.run);
  add_budgets(page, results);
  add_more(page, results, answer.tasks);
}

}  // namespace locus::figures
