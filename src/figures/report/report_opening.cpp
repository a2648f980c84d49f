// SPDX-License-Identifier: Apache-2.0
// The start of the report: the answer in one sentence, its chart, and the numbers in a collapsed section.
#include <cmath>

#include "figures/report/answer_sentence.h"
#include "figures/report/report_parts.h"
#include "figures/report/results_figures.h"
#include "locus/text.h"

namespace locus::figures {
namespace {

std::string percent(double share) { return std::to_string(std::lround(100 * share)); }

std::string times_trained(const results::Task& task) {
  return significant(static_cast<double>(task.lengths.back()) / static_cast<double>(task.trained_length));
}

Cell verdict_cell(results::Holding holding, const Words& words) {
  switch (holding) {
    case results::Holding::holds:
      return {Html(words(Message::kept_holds)), "good"};
    case results::Holding::loses_part:
      return {Html(words(Message::kept_loses_part)), ""};
    case results::Holding::fails:
      return {Html(words(Message::kept_fails)), "bad"};
    case results::Holding::open:
      break;
  }
  return {Html(words(Message::kept_open)), "dim"};
}

Html kept_cell(const results::HeldLine& line, const Words& words) {
  if (!line.kept) return Html(words(Message::kept_not_finite));
  Html cell(percent(line.kept->mean) + " %");
  if (!line.kept->low) return cell;
  return cell + Html::raw(" ") +
         element("small", "[" + percent(*line.kept->low) + ", " + percent(*line.kept->high) + "]");
}

void add_statistics(Page& page, const results::Results& results, const results::LengthAnswer& answer) {
  const Words& words = page.words();
  const results::Task& task = *answer.task;
  page.begin_details(words(Message::answer_fold));
  page.paragraph(words(Message::answer_kept_rules, {{"number", words.phrase(task.main)},
                                                    {"level", significant(task.level().value_or(0))},
                                                    {"holds", percent(results::holds_from)},
                                                    {"fails", percent(results::fails_below)}}));
  Table table;
  table.head = {{words(Message::head_line), "tight"},
                {words(Message::head_kept, {{"length", words.grouped(answer.longest())}}), "number"},
                {words(Message::head_verdict), ""}};
  for (const results::HeldLine& line : answer.lines) {
    table.rows.push_back({results.label(line.line), kept_cell(line, words), verdict_cell(line.holding, words)});
  }
  if (!table.rows.empty()) page.table(table);
  std::vector<std::string> unjudged;
  for (const std::string& scheme : answer.not_learned) unjudged.push_back(results.label(scheme));
  if (!unjudged.empty()) {
    page.paragraph(words(Message::answer_kept_unjudged, {{"lines", words.all_of(unjudged)}}), "note");
  }
  page.end_details();
}

void add_other_tasks(Page& page, const results::Results& results, const results::Task* opening) {
  std::vector<Html> items;
  for (const results::Task& task : results.tasks) {
    if (&task == opening || results::ranked_range(task) != results::Range::beyond) continue;
    items.push_back(link_to(identifier("task-" + task.name), strong(task.title)) +
                    Html(": " + answer_sentence(results, results::length_answer(results, task), page.words())));
  }
  if (items.empty()) return;
  page.paragraph(page.words()(Message::answer_other_tasks));
  page.list(items);
}

}  // namespace

void add_opening(Page& page, const results::Results& results) {
  const Words& words = page.words();
  const results::Task* task = results::opening_task(results);
  const results::LengthAnswer answer =
      task == nullptr ? results::LengthAnswer{} : results::length_answer(results, *task);
  page.paragraph(answer_sentence(results, answer, words), "answer");
  for (const Figure& figure : answer_figures(results, words)) page.figure(figure);
  if (task != nullptr && answer.judged() > 0) {
    page.paragraph(prose(words(Message::answer_rules, {{"length", words.grouped(answer.longest())},
                                                       {"factor", times_trained(*task)},
                                                       {"holds", percent(results::holds_from)},
                                                       {"fails", percent(results::fails_below)}})),
                   "note");
  }
  add_other_tasks(page, results, task);
  if (task != nullptr) add_statistics(page, results, answer);
  page.end_opening("opening");
}

}  // namespace locus::figures
