// SPDX-License-Identifier: Apache-2.0
// Every task with its table and charts, paper claims next to the measurements, and costs.
#include <algorithm>
#include <cmath>

#include "figures/report/report_parts.h"
#include "figures/report/results_figures.h"
#include "locus/text.h"
#include "results/units.h"

namespace locus::figures {
namespace {

std::string levels(const results::Task& task, const Words& words) {
  std::string text = sentence(task.measures);
  if (task.chance) text += words(Message::task_chance, {{"level", significant(*task.chance)}});
  if (task.majority) text += words(Message::task_majority, {{"level", significant(*task.majority)}});
  if (task.learned_at) {
    text += words(task.higher_is_better ? Message::task_learned_least : Message::task_learned_most,
                  {{"level", significant(*task.learned_at)}, {"length", words.grouped(task.trained_length)}});
  }
  return text;
}

/// Returns whether the table shows only a part of an interval.
bool has_cut(const results::Results& results, const results::Task& task, const std::vector<results::Standing>& ranked) {
  return std::any_of(ranked.begin(), ranked.end(),
                     [&](const results::Standing& one) { return results::is_cut(task, one.score); }) ||
         std::any_of(results.numbers.begin(), results.numbers.end(), [&](const results::Number& number) {
           return number.task == task.name && number.name == task.main && number.place == -1 && number.estimate &&
                  results::is_cut(task, *number.estimate);
         });
}

std::vector<Cell> table_row(const results::Results& results, const results::Task& task, const std::string& line,
                            const std::string& rank, const Words& words) {
  std::vector<Cell> row = {rank, results.label(line)};
  for (const std::int64_t length : task.lengths) {
    const results::Number* number = results.main_number(task, line, length);
    if (number == nullptr) {
      row.emplace_back("");
    } else if (!number->estimate) {
      row.emplace_back(words(Message::cell_not_finite));
    } else {
      row.emplace_back(stacked(results::shown(task, *number->estimate)));
    }
  }
  return row;
}

void add_task_table(Page& page, const results::Results& results, const results::TaskRanking& answer) {
  const Words& words = page.words();
  const results::Task& task = *answer.task;
  const std::vector<results::Standing>& ranked = answer.all();
  Table table;
  table.head = {{words(Message::head_rank), "number"}, {words(Message::head_line), ""}};
  for (const std::int64_t length : task.lengths) {
    const std::string text = words.grouped(length);
    const bool trained = length == task.trained_length;
    table.head.push_back({Html(trained ? words(Message::head_trained, {{"length", text}}) : text), "number"});
  }
  table.head.push_back({words(Message::head_beyond), "number"});
  table.head.push_back({words(Message::head_from_best), "number"});
  for (const results::Standing& standing : ranked) {
    std::vector<Cell> row = table_row(results, task, standing.line, std::to_string(standing.rank), words);
    row.push_back(
        {stacked(results::shown(task, standing.score)), standing.leads && results::can_tell(ranked) ? "good" : ""});
    row.emplace_back(standing.difference ? stacked(*standing.difference) : Html(words(Message::cell_best)));
    table.rows.push_back(std::move(row));
    table.row_styles.emplace_back("");
  }
  std::vector<Html> reasons;
  for (const results::Outcome& outcome : results.outcomes) {
    const bool is_ranked = std::any_of(ranked.begin(), ranked.end(),
                                       [&](const results::Standing& one) { return one.line == outcome.line; });
    if (outcome.task != task.name || is_ranked) continue;
    std::vector<Cell> row = table_row(results, task, outcome.line, "", words);
    row.emplace_back(words(outcome.learned ? Message::cell_no_number : Message::cell_not_learned));
    row.emplace_back("");
    table.rows.push_back(std::move(row));
    table.row_styles.emplace_back("dim");
    if (!outcome.reason.empty()) reasons.push_back(Html(results.label(outcome.line) + ": " + outcome.reason));
  }
  const Message caption = task.higher_is_better ? Message::task_table_higher : Message::task_table_lower;
  page.begin_details(words(Message::task_fold));
  page.table(table,
             words(caption, {{"number", words.phrase(task.main)}}) + cut_note(has_cut(results, task, ranked), words));
  page.end_details();
  if (reasons.empty()) return;
  page.begin_details(words(Message::task_unranked));
  page.list(reasons);
  page.end_details();
}

void add_figures(Page& page, const std::vector<Figure>& figures) {
  for (const Figure& figure : figures) page.figure(figure);
}

Cell agrees_cell(const std::string& agrees, const Words& words) {
  if (agrees == "yes") return {Html(words(Message::agrees_yes)), "good"};
  if (agrees == "no") return {Html(words(Message::agrees_no)), "bad"};
  return {Html(words(Message::agrees_open)), "dim"};
}

void add_claims(Page& page, const results::Results& results) {
  if (results.paper_claims.empty()) return;
  const Words& words = page.words();
  page.section(3, words(Message::claims_title), "claims");
  Table table;
  table.head = {words(Message::head_claim),
                words(Message::head_source),
                words(Message::head_seen),
                {words(Message::head_agrees), "tight"}};
  for (const results::PaperClaim& claim : results.paper_claims) {
    table.rows.push_back({Cell(prose(claim.claim), "wide"), Cell(Html(claim.source), "dim"),
                          Cell(prose(claim.seen), "wide"), agrees_cell(claim.agrees, words)});
  }
  page.table(table);
}

void add_costs(Page& page, const results::Results& results) {
  if (results.costs.empty()) return;
  const Words& words = page.words();
  page.section(3, words(Message::costs_title), "costs");
  Table table;
  table.head = {words(Message::head_task),
                {words(Message::head_line), "tight"},
                {words(Message::head_parameters), "number"},
                {words(Message::head_step_time), "number"},
                {words(Message::head_memory), "number"}};
  for (const results::Cost& cost : results.costs) {
    table.rows.push_back({cost.task, results.label(cost.line),
                          cost.parameters ? words.grouped(std::llround(*cost.parameters)) : std::string(),
                          cost.seconds_per_step ? significant(*cost.seconds_per_step * 1000) + " ms" : std::string(),
                          cost.peak_bytes ? results::bytes(*cost.peak_bytes) : std::string()});
  }
  add_figures(page, cost_figures(results, words));
  page.begin_details(words(Message::costs_fold));
  page.table(table);
  page.end_details();
}

}  // namespace

void add_results(Page& page, const results::Results& results, const results::Ranking& answer) {
  const Words& words = page.words();
  page.section(2, words(Message::results_title), "results");
  for (const results::TaskRanking& task : answer.tasks) {
    page.section(3, task.task->title, "task-" + task.task->name);
    page.paragraph(prose(levels(*task.task, words)));
    add_figures(page, task_figures(results, *task.task, words));
    add_task_table(page, results, task);
  }
  add_claims(page, results);
  add_costs(page, results);
}

}  // namespace locus::figures
