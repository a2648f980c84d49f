// SPDX-License-Identifier: Apache-2.0
// Section 4: every task with its table and charts, what papers say beside what was seen, and what it cost.
#include <algorithm>
#include <cmath>

#include "figures/numbers.h"
#include "figures/report/report_parts.h"
#include "figures/report/results_figures.h"

namespace locus::figures {
namespace {

std::string levels(const ResultTask& task) {
  std::string text = sentence(task.measures);
  if (task.chance) text += " A uniform guess gives " + significant(*task.chance) + ".";
  if (task.majority) text += " The best answer that ignores the input gives " + significant(*task.majority) + ".";
  if (task.learned_at) {
    text += " Learned means " + std::string(task.higher_is_better ? "at least " : "at most ") +
            significant(*task.learned_at) + " at the training length of " + grouped(task.train_length) + ".";
  }
  return text;
}

const ResultNumber* main_number(const Results& results, const ResultTask& task, const std::string& line,
                                std::int64_t length) {
  for (const ResultNumber& number : results.numbers) {
    if (number.task == task.name && number.line == line && number.name == task.main && number.length == length &&
        number.place == -1) {
      return &number;
    }
  }
  return nullptr;
}

Mean mean_in(const ResultNumber& number) { return {number.mean, number.low, number.high, number.values.size()}; }

/// Whether the table shows less than the whole of an interval.
bool has_cut(const Results& results, const ResultTask& task, const std::vector<Standing>& ranked) {
  return std::any_of(ranked.begin(), ranked.end(), [&](const Standing& one) { return is_cut(task, one.mean); }) ||
         std::any_of(results.numbers.begin(), results.numbers.end(), [&](const ResultNumber& number) {
           return number.task == task.name && number.name == task.main && number.place == -1 &&
                  is_cut(task, mean_in(number));
         });
}

std::vector<Cell> table_row(const Results& results, const ResultTask& task, const std::string& line,
                            const std::string& place) {
  std::vector<Cell> row = {place, results.label(line)};
  for (const std::int64_t length : task.lengths) {
    const ResultNumber* number = main_number(results, task, line, length);
    if (number == nullptr) {
      row.emplace_back("");
    } else {
      row.emplace_back(stacked(shown(task, mean_in(*number))));
    }
  }
  return row;
}

void add_task_table(Page& page, const Results& results, const TaskAnswer& answer) {
  const ResultTask& task = *answer.task;
  const std::vector<Standing>& ranked = answer.after_tuning.empty() ? answer.beyond : answer.after_tuning;
  Table table;
  table.head = {{"", "number"}, {"scheme", "tight"}};
  for (const std::int64_t length : task.lengths) {
    const bool trained = length == task.train_length;
    table.head.push_back({Html(grouped(length) + (trained ? " (trained)" : "")), "number"});
  }
  table.head.push_back({"beyond", "number"});
  table.head.push_back({"from the best", "number"});
  std::size_t place = 0;
  for (const Standing& standing : ranked) {
    std::vector<Cell> row = table_row(results, task, standing.line, std::to_string(++place));
    row.push_back({stacked(shown(task, standing.mean)), standing.leads && can_tell(ranked) ? "good" : ""});
    row.emplace_back(standing.difference ? stacked(*standing.difference) : Html("best"));
    table.rows.push_back(std::move(row));
    table.row_styles.emplace_back("");
  }
  std::vector<Html> reasons;
  for (const ResultVerdict& verdict : results.verdicts) {
    if (verdict.task != task.name || verdict.learned) continue;
    std::vector<Cell> row = table_row(results, task, verdict.line, "");
    row.emplace_back("not learned");
    row.emplace_back("");
    table.rows.push_back(std::move(row));
    table.row_styles.emplace_back("dim");
    if (!verdict.reason.empty()) reasons.push_back(Html(results.label(verdict.line) + ": " + verdict.reason));
  }
  page.table(table, Html(task.main + " by length, " + (task.higher_is_better ? "higher" : "lower") +
                         " is better; beyond: averaged over the lengths above the one trained at." +
                         (has_cut(results, task, ranked) ? cut_words : "")));
  if (reasons.empty()) return;
  page.begin_details("Why lines are marked as not learned");
  page.list(reasons);
  page.end_details();
}

void add_figures(Page& page, const std::vector<Figure>& figures) {
  for (const Figure& figure : figures) page.figure(figure);
}

void add_claims(Page& page, const Results& results) {
  if (results.claims.empty()) return;
  page.section(3, "What papers say, and what was seen", "claims");
  Table table;
  table.head = {"claim", "source", "seen here", {"agrees", "tight"}};
  for (const ResultClaim& claim : results.claims) {
    const std::string style = claim.agrees == "yes" ? "good" : claim.agrees == "no" ? "bad" : "dim";
    table.rows.push_back({Cell(Html(claim.claim), "wide"), Cell(Html(claim.source), "dim"),
                          Cell(Html(claim.seen), "wide"), Cell(Html(claim.agrees), style)});
  }
  page.table(table);
}

void add_costs(Page& page, const Results& results) {
  if (results.costs.empty()) return;
  page.section(3, "What each scheme costs", "costs");
  Table table;
  table.head = {
      "task", {"scheme", "tight"}, {"parameters", "number"}, {"time per step", "number"}, {"peak memory", "number"}};
  for (const ResultCost& cost : results.costs) {
    table.rows.push_back({cost.task, results.label(cost.line),
                          cost.parameters ? grouped(std::llround(*cost.parameters)) : std::string(),
                          cost.seconds_per_step ? significant(*cost.seconds_per_step * 1000) + " ms" : std::string(),
                          cost.peak_bytes ? bytes(*cost.peak_bytes) : std::string()});
  }
  add_figures(page, cost_figures(results));
  page.begin_details("Parameters, time and memory in numbers");
  page.table(table);
  page.end_details();
}

}  // namespace

void add_results(Page& page, const Results& results, const Answer& answer) {
  page.section(2, "Results", "results");
  for (const TaskAnswer& task : answer.tasks) {
    page.section(3, task.task->title, "task-" + task.task->name);
    page.paragraph(prose(levels(*task.task)));
    add_task_table(page, results, task);
    add_figures(page, task_figures(results, *task.task));
  }
  add_claims(page, results);
  add_costs(page, results);
}

}  // namespace locus::figures
