// SPDX-License-Identifier: Apache-2.0
// Which scheme to use when, and the ranking. Counts and differences determine every sentence, by the stated rules.
#include <algorithm>

#include "figures/report/argument.h"
#include "figures/report/report_parts.h"
#include "figures/report/results_figures.h"
#include "figures/spec.h"
#include "locus/text.h"

namespace locus::figures {
namespace {

void add_arguments(Page& page, const results::Results& results, const results::Ranking& answer) {
  for (const LineCase& line : default_cases(results, answer, page.words())) {
    page.paragraph(prose(line.opening));
    std::vector<Html> items;
    for (const TaskCase& task : line.tasks) items.push_back(strong(task.task) + Html(": " + task.text));
    page.list(items);
  }
}

std::string leaders_or_why(const results::Results& results, const results::Task& task,
                           const std::vector<results::Standing>& standings, const Words& words) {
  if (standings.empty()) {
    const bool any = std::any_of(task.lines.begin(), task.lines.end(),
                                 [&](const std::string& line) { return results.learned(task.name, line); });
    return words(any ? Message::when_not_measured : Message::when_none_learned);
  }
  if (!results::can_tell(standings) && standings.size() > 1) {
    return words(Message::when_one_seed, {{"line", results.label(standings.front().line)}});
  }
  const std::string leaders = leaders_text(results, standings, words);
  const bool all =
      std::all_of(standings.begin(), standings.end(), [](const results::Standing& one) { return one.leads; });
  return all && standings.size() > 1 ? words(Message::when_cannot_tell, {{"lines", leaders}}) : leaders;
}

void add_when_table(Page& page, const results::Results& results, const results::Ranking& answer) {
  const Words& words = page.words();
  const bool tuned = std::any_of(answer.tasks.begin(), answer.tasks.end(),
                                 [](const results::TaskRanking& task) { return !task.after_tuning.empty(); });
  Table table;
  table.head = {words(Message::when_matters), words(Message::when_trained), words(Message::when_beyond)};
  if (tuned) table.head.emplace_back(words(Message::when_tuned));
  for (const results::TaskRanking& task : answer.tasks) {
    std::vector<Cell> row;
    row.emplace_back(element("strong", task.task->title) + Html::raw("<br>") +
                         element("span", prose(sentence(task.task->measures)), "class=\"dim\""),
                     "wide");
    row.emplace_back(leaders_or_why(results, *task.task, task.in_range, words));
    row.emplace_back(leaders_or_why(results, *task.task, task.beyond, words));
    if (tuned) {
      row.emplace_back(task.after_tuning.empty() ? words(Message::when_not_tried)
                                                 : leaders_or_why(results, *task.task, task.after_tuning, words));
    }
    table.rows.push_back(std::move(row));
  }
  page.table(table);
}

Cell number_cell(const results::Results& results, const results::TaskRanking& task, const std::string& line,
                 const Words& words) {
  if (const results::Standing* standing = find_standing(task.beyond, line)) {
    return {stacked(results::shown(*task.task, standing->score)),
            standing->leads && results::can_tell(task.beyond) ? "good" : ""};
  }
  const results::Outcome* outcome = results.outcome(task.task->name, line);
  return {Html(words(outcome == nullptr ? Message::cell_not_tested
                     : outcome->learned ? Message::cell_no_number
                                        : Message::cell_not_learned)),
          "dim"};
}

Cell worst_cell(const results::RankedLine& row) {
  if (row.worst == nullptr) return "";
  return {Html(significant(row.worst_gain)) + Html::raw("<br>") + element("small", row.worst->name), ""};
}

void add_ranking_table(Page& page, const results::Results& results, const results::Ranking& answer) {
  const Words& words = page.words();
  Table table;
  table.head = {{words(Message::head_rank), "number"},      {words(Message::head_line), ""},
                {words(Message::head_mean_gain), "number"}, {words(Message::head_least_gain), "number"},
                {words(Message::head_leads), "number"},     {words(Message::head_learned), "number"}};
  for (const results::TaskRanking& task : answer.tasks) {
    const Message head = task.task->higher_is_better ? Message::head_higher : Message::head_lower;
    table.head.push_back({words(head, {{"task", task.task->name}}), "number"});
  }
  bool cut = false;
  for (const results::RankedLine& row : answer.lines) {
    const std::string& line = row.gain.line;
    std::vector<Cell> cells = {std::to_string(row.gain.rank),
                               results.label(line),
                               stacked(shown_gain(row)),
                               worst_cell(row),
                               count_of(row.leads_beyond, answer.tasks.size(), words),
                               count_of(row.learned, row.tested, words)};
    cut = cut || results::is_cut(results::Task{}, row.gain.score);
    for (const results::TaskRanking& task : answer.tasks) {
      cells.push_back(number_cell(results, task, line, words));
      const results::Standing* standing = find_standing(task.beyond, line);
      cut = cut || (standing != nullptr && results::is_cut(*task.task, standing->score));
    }
    table.rows.push_back(std::move(cells));
    const bool chosen = std::find(answer.defaults.begin(), answer.defaults.end(), line) != answer.defaults.end();
    table.row_styles.emplace_back(chosen ? "first" : row.learned == 0 ? "dim" : "");
  }
  page.table(table, words(Message::ranking_caption) + in_range_note(results, words) + cut_note(cut, words));
}

void add_ranking(Page& page, const results::Results& results, const results::Ranking& answer) {
  const Words& words = page.words();
  page.section(3, words(Message::ranking_title), "ranking");
  page.paragraph(prose(default_sentence(results, answer, words)));
  page.paragraph(words(Message::ranking_how), "note");
  page.begin_details(words(Message::ranking_fold));
  add_ranking_table(page, results, answer);
  page.end_details();
  page.begin_details(words(Message::rules_title));
  std::vector<Html> rules;
  for (const Message rule : {Message::rule_learned, Message::rule_score, Message::rule_leads, Message::rule_gain,
                             Message::rule_default, Message::rule_one_seed}) {
    rules.emplace_back(words(rule));
  }
  page.list(rules);
  page.end_details();
  page.begin_details(words(answer.defaults.empty() ? Message::argument_none : Message::argument_for));
  if (answer.defaults.empty()) page.paragraph(words(Message::argument_no_scheme));
  add_arguments(page, results, answer);
  page.end_details();
  page.paragraph(words(Message::argument_scale), "note");
}

}  // namespace

std::string cut_note(bool cut, const Words& words) { return cut ? " " + words(Message::chart_intervals_cut) : ""; }

std::string in_range_note(const results::Results& results, const Words& words) {
  std::vector<std::string> tasks;
  for (const results::Task& task : results.tasks) {
    if (results::ranked_range(task) == results::Range::trained) tasks.push_back(task.name);
  }
  return tasks.empty() ? "" : " " + words(Message::ranked_in_range, {{"tasks", words.all_of(tasks)}});
}

std::string leaders_text(const results::Results& results, const std::vector<results::Standing>& standings,
                         const Words& words) {
  std::vector<std::string> names;
  for (const results::Standing& standing : standings) {
    if (standing.leads) names.push_back(results.label(standing.line));
  }
  return words.all_of(names);
}

void add_when(Page& page, const results::Results& results, const results::Ranking& answer) {
  page.section(2, page.words()(Message::when_title), "when");
  add_when_table(page, results, answer);
  for (const Figure& figure : beyond_figures(results, answer, page.words())) page.figure(figure);
  add_ranking(page, results, answer);
}

}  // namespace locus::figures
