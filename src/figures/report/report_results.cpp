// SPDX-License-Identifier: Apache-2.0
// Section 4: every task with its table and charts, what papers claim beside what was seen, and what it cost.
#include <algorithm>
#include <cmath>

#include "figures/report/report_parts.h"
#include "figures/report/results_figures.h"
#include "locus/text.h"
#include "results/units.h"

namespace locus::figures {
namespace {

std::string levels(const results::Task& task) {
  std::string text = sentence(task.measures);
  if (task.chance) text += " A uniform guess gives " + significant(*task.chance) + ".";
  if (task.majority) text += " The best answer that ignores the input gives " + significant(*task.majority) + ".";
  if (task.learned_at) {
    text += " Learned means " + std::string(task.higher_is_better ? "at least " : "at most ") +
            significant(*task.learned_at) + " at the trained length of " + grouped(task.trained_length) + ".";
  }
  return text;
}

/// Whether the table shows less than the whole of an interval.
bool has_cut(const results::Results& results, const results::Task& task, const std::vector<results::Standing>& ranked) {
  return std::any_of(ranked.begin(), ranked.end(),
                     [&](const results::Standing& one) { return results::is_cut(task, one.score); }) ||
         std::any_of(results.numbers.begin(), results.numbers.end(), [&](const results::Number& number) {
           return number.task == task.name && number.name == task.main && number.place == -1 && number.estimate &&
                  results::is_cut(task, *number.estimate);
         });
}

std::vector<Cell> table_row(const results::Results& results, const results::Task& task, const std::string& line,
                            const std::string& rank) {
  std::vector<Cell> row = {rank, results.label(line)};
  for (const std::int64_t length : task.lengths) {
    const results::Number* number = results.main_number(task, line, length);
    if (number == nullptr) {
      row.emplace_back("");
    } else if (!number->estimate) {
      row.emplace_back("not finite");
    } else {
      row.emplace_back(stacked(results::shown(task, *number->estimate)));
    }
  }
  return row;
}

void add_task_table(Page& page, const results::Results& results, const results::TaskRanking& answer) {
  const results::Task& task = *answer.task;
  const std::vector<results::Standing>& ranked = answer.all();
  Table table;
  table.head = {{"rank", "number"}, {"line", "tight"}};
  for (const std::int64_t length : task.lengths) {
    const bool trained = length == task.trained_length;
    table.head.push_back({Html(grouped(length) + (trained ? " (trained)" : "")), "number"});
  }
  table.head.push_back({"beyond", "number"});
  table.head.push_back({"from the best", "number"});
  for (const results::Standing& standing : ranked) {
    std::vector<Cell> row = table_row(results, task, standing.line, std::to_string(standing.rank));
    row.push_back(
        {stacked(results::shown(task, standing.score)), standing.leads && results::can_tell(ranked) ? "good" : ""});
    row.emplace_back(standing.difference ? stacked(*standing.difference) : Html("best"));
    table.rows.push_back(std::move(row));
    table.row_styles.emplace_back("");
  }
  std::vector<Html> reasons;
  for (const results::Outcome& outcome : results.outcomes) {
    const bool is_ranked = std::any_of(ranked.begin(), ranked.end(),
                                       [&](const results::Standing& one) { return one.line == outcome.line; });
    if (outcome.task != task.name || is_ranked) continue;
    std::vector<Cell> row = table_row(results, task, outcome.line, "");
    row.emplace_back(outcome.learned ? "no number" : "not learned");
    row.emplace_back("");
    table.rows.push_back(std::move(row));
    table.row_styles.emplace_back("dim");
    if (!outcome.reason.empty()) reasons.push_back(Html(results.label(outcome.line) + ": " + outcome.reason));
  }
  page.table(table, Html(task.main + " by length, " + (task.higher_is_better ? "higher" : "lower") +
                         " is better. Beyond: the mean over the lengths above the trained one." +
                         (has_cut(results, task, ranked) ? cut_note : "")));
  if (reasons.empty()) return;
  page.begin_details("Why lines are not ranked");
  page.list(reasons);
  page.end_details();
}

void add_figures(Page& page, const std::vector<Figure>& figures) {
  for (const Figure& figure : figures) page.figure(figure);
}

void add_claims(Page& page, const results::Results& results) {
  if (results.paper_claims.empty()) return;
  page.section(3, "What papers claim, and what was seen", "claims");
  Table table;
  table.head = {"claim", "source", "seen here", {"agrees", "tight"}};
  for (const results::PaperClaim& claim : results.paper_claims) {
    const std::string style = claim.agrees == "yes" ? "good" : claim.agrees == "no" ? "bad" : "dim";
    table.rows.push_back({Cell(Html(claim.claim), "wide"), Cell(Html(claim.source), "dim"),
                          Cell(Html(claim.seen), "wide"), Cell(Html(claim.agrees), style)});
  }
  page.table(table);
}

void add_costs(Page& page, const results::Results& results) {
  if (results.costs.empty()) return;
  page.section(3, "What each scheme costs", "costs");
  Table table;
  table.head = {
      "task", {"line", "tight"}, {"parameters", "number"}, {"time per step", "number"}, {"peak memory", "number"}};
  for (const results::Cost& cost : results.costs) {
    table.rows.push_back({cost.task, results.label(cost.line),
                          cost.parameters ? grouped(std::llround(*cost.parameters)) : std::string(),
                          cost.seconds_per_step ? significant(*cost.seconds_per_step * 1000) + " ms" : std::string(),
                          cost.peak_bytes ? results::bytes(*cost.peak_bytes) : std::string()});
  }
  add_figures(page, cost_figures(results));
  page.begin_details("Parameters, time and memory in numbers");
  page.table(table);
  page.end_details();
}

}  // namespace

void add_results(Page& page, const results::Results& results, const results::Ranking& answer) {
  page.section(2, "Results", "results");
  for (const results::TaskRanking& task : answer.tasks) {
    page.section(3, task.task->title, "task-" + task.task->name);
    page.paragraph(prose(levels(*task.task)));
    add_task_table(page, results, task);
    add_figures(page, task_figures(results, *task.task));
  }
  add_claims(page, results);
  add_costs(page, results);
}

}  // namespace locus::figures
