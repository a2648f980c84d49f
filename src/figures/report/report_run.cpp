// SPDX-License-Identifier: Apache-2.0
// Section 6: how it was run, what was spent, and what more would change.
#include <cmath>

#include "figures/numbers.h"
#include "figures/report/report_parts.h"
#include "figures/report/student_t.h"

namespace locus::figures {
namespace {

std::string spoken(std::string key) {
  if (key == "seconds") return "time of work, all workers together";
  for (char& c : key) {
    if (c == '_') c = ' ';
  }
  return key;
}

std::string value_text(const std::string& key, const Json& value) {
  if (value.is_null()) return key == "finished" ? "not yet" : "not measured";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number()) {
    const double number = value.get<double>();
    if (key.ends_with("seconds")) return duration(number);
    if (key.ends_with("bytes")) return bytes(number);
    return value.is_number_integer() ? grouped(value.get<std::int64_t>()) : significant(number, 4);
  }
  std::string text;
  for (const auto& item : value.items()) {
    text += text.empty() ? "" : item.value().is_object() ? "; " : ", ";
    if (value.is_object()) text += spoken(item.key()) + (item.value().is_object() ? ": " : " ");
    text += value_text(item.key(), item.value());
  }
  return text;
}

void add_facts(Page& page, const Json& run) {
  Table table;
  table.head = {{"", "tight"}, ""};
  for (const auto& item : run.items()) {
    if (item.value().is_object()) {
      for (const auto& inner : item.value().items()) {
        table.rows.push_back({spoken(item.key()) + ": " + spoken(inner.key()), value_text(inner.key(), inner.value())});
      }
    } else {
      table.rows.push_back({spoken(item.key()), value_text(item.key(), item.value())});
    }
  }
  page.table(table);
}

void add_budgets(Page& page, const Results& results) {
  Table table;
  table.head = {{"task", "tight"},    {"trained at", "number"},
                {"steps", "number"},  {"fine-tune steps", "number"},
                {"batch", "number"},  {"learning rate", "number"},
                {"layers", "number"}, {"heads", "number"},
                {"width", "number"},  "tested at"};
  for (const ResultTask& task : results.tasks) {
    std::string lengths;
    for (const std::int64_t length : task.lengths) lengths += (lengths.empty() ? "" : ", ") + grouped(length);
    table.rows.push_back({task.name, grouped(task.train_length), grouped(task.steps),
                          task.tune_steps > 0 ? grouped(task.tune_steps) : std::string("none"), grouped(task.batch),
                          task.learning_rate ? significant(*task.learning_rate) : std::string(), grouped(task.layers),
                          grouped(task.heads), grouped(task.width), lengths});
  }
  page.table(table,
             "The budget: the same for every scheme. Data and, where shapes allow, initial weights are the same too.");
}

void add_failures(Page& page, const Json& run) {
  const auto trials = run.find("trials");
  if (trials == run.end() || !trials->is_object()) return;
  const auto count = [&](const char* key) {
    const auto found = trials->find(key);
    return found != trials->end() && found->is_number_integer() ? found->get<std::int64_t>() : std::int64_t{0};
  };
  const std::int64_t planned = count("planned"), finished = count("finished"), failed = count("failed");
  if (finished >= planned && failed == 0) return;
  page.paragraph(strong("Not all of it ran. ") +
                     Html("Of " + grouped(planned) + " trials " + grouped(finished) + " finished and " +
                          grouped(failed) + " failed; means are over the seeds that are there."),
                 "warning");
}

void add_failed_trials(Page& page, const Results& results) {
  if (results.failures.empty()) return;
  Table table;
  table.head = {{"task", "tight"}, {"scheme", "tight"}, {"seed", "number"}, "error"};
  for (const ResultFailure& failure : results.failures) {
    table.rows.push_back({failure.task, failure.scheme, grouped(failure.seed), failure.error});
  }
  page.table(table, "Trials that failed.");
}

/// Half the width of an interval over n seeds of one spread goes with t / sqrt(n).
double reach(std::size_t seeds) {
  return student_t(static_cast<int>(seeds) - 1, 0.95) / std::sqrt(static_cast<double>(seeds));
}

void add_more(Page& page, const Results& results, const std::vector<TaskAnswer>& answers) {
  page.section(3, "What more would change", "more");
  std::vector<Html> items;
  const std::size_t seeds = results.seeds.size();
  if (seeds < 2) {
    items.emplace_back(
        "Seeds: with one there are no intervals, and no difference can be called one. Three are the least.");
  } else {
    items.push_back(Html("Seeds: at the same spread, 10 seeds instead of " + std::to_string(seeds) +
                         " would make the intervals " + fixed(reach(seeds) / reach(10), 1) +
                         (seeds < 10 ? " times narrower" : " times as narrow") +
                         ", and more of the schemes that lead together could be told apart."));
  }
  for (const TaskAnswer& answer : answers) {
    if (answer.not_learned.empty()) continue;
    items.push_back(Html("Steps: in " + answer.task->name + ", " + std::to_string(answer.not_learned.size()) +
                         " of the schemes had not learned after " + grouped(answer.task->steps) +
                         " steps. With more they might; their marks say what this budget gave, not what they can do."));
  }
  items.emplace_back(
      "Size and data: the models are small and the tasks made up. Whatever comes from scale (attention sinks, learned "
      "use of long contexts, fine-tunes of billions of tokens) is outside what is measured here.");
  page.list(items);
}

}  // namespace

void add_run(Page& page, const Results& results) {
  page.section(2, "How it was run", "run");
  add_failures(page, results.run);
  add_failed_trials(page, results);
  add_facts(page, results.run);
  add_budgets(page, results);
  add_more(page, results, answer_of(results).tasks);
}

}  // namespace locus::figures
