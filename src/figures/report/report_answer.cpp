// SPDX-License-Identifier: Apache-2.0
// Section 1: which scheme to use when. Every sentence follows from a count or a difference by the rules it states.
#include <algorithm>

#include "figures/report/report_parts.h"
#include "figures/report/results_figures.h"
#include "figures/spec.h"
#include "locus/text.h"

namespace locus::figures {
namespace {

std::string of(std::size_t count, std::size_t all) { return std::to_string(count) + " of " + std::to_string(all); }

const results::Standing* find(const std::vector<results::Standing>& standings, const std::string& line) {
  const auto found =
      std::find_if(standings.begin(), standings.end(), [&](const results::Standing& one) { return one.line == line; });
  return found == standings.end() ? nullptr : &*found;
}

std::vector<std::string> labels(const results::Results& results, const std::vector<std::string>& lines) {
  std::vector<std::string> all;
  for (const std::string& line : lines) all.push_back(results.label(line));
  return all;
}

/// A gain is shown within 0 and 1.
results::Estimate shown_gain(const results::RankedLine& row) { return results::shown(results::Task{}, row.gain.score); }

Html gain_text(const results::Ranking& answer, const results::RankedLine& row) {
  return Html("beyond the trained length its mean gain over ") +
         Html(std::to_string(answer.scored) + (answer.scored == 1 ? " task is " : " tasks is ")) +
         strong(with_interval(shown_gain(row))) +
         Html(", where 0 is an answer that ignores the input and 1 the best line of the task. Its least gain is " +
              significant(row.worst_gain) + " (" + row.worst->title + "). It leads in " +
              of(row.leads_beyond, answer.tasks.size()) + " tasks and learned " + of(row.learned, row.tested));
}

/// The cost of a training step of the line's scheme, compared with the cheapest.
std::string cost_text(const results::Results& results, const std::string& line) {
  const std::string trained = results.line(line).trained;
  for (const results::Task& task : results.tasks) {
    double least = 0, own = 0;
    for (const results::Cost& cost : results.costs) {
      if (cost.task != task.name || !cost.seconds_per_step) continue;
      least = least == 0 ? *cost.seconds_per_step : std::min(least, *cost.seconds_per_step);
      if (cost.line == trained) own = *cost.seconds_per_step;
    }
    if (own == 0 || least == 0) continue;
    return " A training step of " + task.name + " took " + significant(own * 1000) + " ms, " + fixed(own / least, 2) +
           " times as long as that of the fastest scheme.";
  }
  return {};
}

void add_lead(Page& page, const results::Results& results, const results::Ranking& answer) {
  if (!answer.can_tell) {
    page.paragraph(strong("These numbers cannot tell the schemes apart.") +
                       Html(" No task has two lines that learned it with two seeds or more, so no difference has an "
                            "interval. The order below comes from single trials; another seed may reverse it."),
                   "lead");
    return;
  }
  if (answer.defaults.empty()) {
    page.paragraph(
        strong("These numbers give no default.") +
            Html(" In no task does a line that learned it beat, beyond the trained length, an answer that ignores the "
                 "input."),
        "lead");
    return;
  }
  const results::RankedLine& first = answer.lines.front();
  const std::string best = results.label(answer.defaults.front());
  if (answer.defaults.size() == 1) {
    page.paragraph(Html("These numbers argue for ") + strong(best) + Html(": ") + gain_text(answer, first) +
                       Html("." + cost_text(results, answer.defaults.front())),
                   "lead");
    return;
  }
  page.paragraph(Html("These numbers argue for ") + strong(listed(labels(results, answer.defaults))) +
                     Html(": the seeds cannot tell them apart. For " + best + ", ") + gain_text(answer, first) +
                     Html("."),
                 "lead");
}

/// How the line did in each task, against the best.
void add_case(Page& page, const results::Results& results, const results::Ranking& answer, const std::string& line) {
  std::vector<Html> items;
  for (const results::TaskRanking& task : answer.tasks) {
    const results::Standing* own = find(task.beyond, line);
    Html item = strong(task.task->title) + Html(": ");
    if (own == nullptr) {
      item += results.learned(task.task->name, line) ? Html("not tested beyond the trained length.")
                                                     : Html("not learned within this budget, so not ranked.");
    } else if (own == &task.beyond.front()) {
      item += Html(task.task->main + " " + with_interval(results::shown(*task.task, own->score)) + ", the best mean");
      const std::string others = leaders_text(results, {task.beyond.begin() + 1, task.beyond.end()});
      item += others.empty() ? Html(", ahead of every other line.")
                             : Html("; the seeds cannot tell " + others + " from it.");
    } else {
      item += Html(task.task->main + " " + with_interval(results::shown(*task.task, own->score)) + " against " +
                   with_interval(results::shown(*task.task, task.beyond.front().score)) + " for " +
                   results.label(task.beyond.front().line));
      if (own->difference) item += Html("; difference " + with_interval(*own->difference));
      item += Html(own->leads ? ", which may be chance." : ".");
    }
    items.push_back(item);
  }
  page.list(items);
}

void add_arguments(Page& page, const results::Results& results, const results::Ranking& answer) {
  for (const std::string& line : answer.defaults) {
    page.paragraph(Html("The case for ") + strong(results.label(line)) + Html(", beyond the trained length:"));
    add_case(page, results, answer, line);
  }
  const bool has_rope = std::any_of(answer.lines.begin(), answer.lines.end(),
                                    [](const results::RankedLine& row) { return row.gain.line == "rope"; });
  const bool is_default = std::find(answer.defaults.begin(), answer.defaults.end(), "rope") != answer.defaults.end();
  if (has_rope && !is_default) {
    page.paragraph(Html("Plain ") + strong(results.label("rope")) +
                   Html(", which most of today's language models are trained with, in the same run:"));
    add_case(page, results, answer, "rope");
  }
}

std::string leaders_or_why(const results::Results& results, const results::Task& task,
                           const std::vector<results::Standing>& standings) {
  if (standings.empty()) {
    const bool any = std::any_of(task.lines.begin(), task.lines.end(),
                                 [&](const std::string& line) { return results.learned(task.name, line); });
    return any ? "not measured" : "none learned it";
  }
  if (!results::can_tell(standings) && standings.size() > 1) {
    return results.label(standings.front().line) + " has the best mean; one seed decides nothing";
  }
  const std::string leaders = leaders_text(results, standings);
  const bool all =
      std::all_of(standings.begin(), standings.end(), [](const results::Standing& one) { return one.leads; });
  return all && standings.size() > 1 ? "cannot tell: " + leaders : leaders;
}

void add_when(Page& page, const results::Results& results, const results::Ranking& answer) {
  const bool tuned = std::any_of(answer.tasks.begin(), answer.tasks.end(),
                                 [](const results::TaskRanking& task) { return !task.after_tuning.empty(); });
  Table table;
  table.head = {"If what matters is", "at the trained length", "beyond it, as trained"};
  if (tuned) table.head.emplace_back("beyond it, with a short fine-tune");
  for (const results::TaskRanking& task : answer.tasks) {
    std::vector<Cell> row;
    row.emplace_back(element("strong", task.task->title) + Html::raw("<br>") +
                         element("span", prose(sentence(task.task->measures)), "class=\"dim\""),
                     "wide");
    row.emplace_back(leaders_or_why(results, *task.task, task.in_range));
    row.emplace_back(leaders_or_why(results, *task.task, task.beyond));
    if (tuned) {
      row.emplace_back(task.after_tuning.empty() ? std::string("not tried")
                                                 : leaders_or_why(results, *task.task, task.after_tuning));
    }
    table.rows.push_back(std::move(row));
  }
  page.table(table);
}

Cell number_cell(const results::Results& results, const results::TaskRanking& task, const std::string& line) {
  if (const results::Standing* standing = find(task.beyond, line)) {
    return {stacked(results::shown(*task.task, standing->score)),
            standing->leads && results::can_tell(task.beyond) ? "good" : ""};
  }
  const results::Outcome* outcome = results.outcome(task.task->name, line);
  return {Html(outcome == nullptr ? "not tested" : outcome->learned ? "no number" : "not learned"), "dim"};
}

Cell worst_cell(const results::RankedLine& row) {
  if (row.worst == nullptr) return "";
  return {Html(significant(row.worst_gain)) + Html::raw("<br>") + element("small", row.worst->name), ""};
}

void add_ranking(Page& page, const results::Results& results, const results::Ranking& answer) {
  Table table;
  table.head = {{"rank", "number"},       {"line", "tight"},   {"mean gain", "number"},
                {"least gain", "number"}, {"leads", "number"}, {"learned", "number"}};
  for (const results::TaskRanking& task : answer.tasks) {
    table.head.push_back({Html(task.task->name + (task.task->higher_is_better ? ", higher" : ", lower")), "number"});
  }
  bool cut = false;
  for (const results::RankedLine& row : answer.lines) {
    const std::string& line = row.gain.line;
    std::vector<Cell> cells = {std::to_string(row.gain.rank),
                               results.label(line),
                               stacked(shown_gain(row)),
                               worst_cell(row),
                               of(row.leads_beyond, answer.tasks.size()),
                               of(row.learned, row.tested)};
    cut = cut || results::is_cut(results::Task{}, row.gain.score);
    for (const results::TaskRanking& task : answer.tasks) {
      cells.push_back(number_cell(results, task, line));
      const results::Standing* standing = find(task.beyond, line);
      cut = cut || (standing != nullptr && results::is_cut(*task.task, standing->score));
    }
    table.rows.push_back(std::move(cells));
    const bool chosen = std::find(answer.defaults.begin(), answer.defaults.end(), line) != answer.defaults.end();
    table.row_styles.emplace_back(chosen ? "first" : row.learned == 0 ? "dim" : "");
  }
  page.paragraph(
      "Ordered by mean gain. The gain of a line in a task is 0 at the level of the best answer that ignores the input "
      "and 1 for the best line, beyond the trained length; a task that a line did not learn counts as 0.");
  page.table(table,
             "Task columns: the main number, averaged over all lengths beyond the trained one, with its 95 % interval "
             "over seeds; the head says whether higher or lower is better. Green leads." +
                 in_range_note(results) + (cut ? cut_note : ""));
}

void add_ranking_rules(Page& page) {
  page.begin_details("The rules behind this answer");
  const std::vector<Html> rules = {
      "A line is ranked in a task only if its scheme learned it: at the trained length it reached the level that the "
      "task states (section 4).",
      "Its score is the task's main number, averaged seed by seed over all lengths beyond the trained one; where no "
      "longer length was tested, it is the number at the trained length.",
      "The best mean leads. So does every line whose difference from it, paired over seeds, has a 95 % interval "
      "(Student's t) that holds 0. Each comparison stands alone: nothing is corrected for their number, so about one "
      "in twenty looks different by chance.",
      "Lines without fine-tuning are ordered by their gain, averaged over tasks seed by seed. In a task it is (score - "
      "level) / (best - level), where the level is the score of the best answer that ignores the input (of a uniform "
      "guess where the task knows no other). Not learned, not tested or below the level is 0. A task in which no line "
      "beats the level is left out.",
      "The default is the first of that order, and every line whose difference from it, paired over seeds, has a 95 % "
      "interval that holds 0. The least gain stands beside the mean, which could hide it.",
      "One seed has no interval, so no default is named."};
  page.list(rules);
  page.end_details();
}

}  // namespace

std::string in_range_note(const results::Results& results) {
  std::vector<std::string> tasks;
  for (const results::Task& task : results.tasks) {
    if (results::ranked_range(task) == results::Range::trained) tasks.push_back(task.name);
  }
  return tasks.empty() ? "" : " Tasks tested at the trained length only are ranked there: " + listed(tasks) + ".";
}

std::string leaders_text(const results::Results& results, const std::vector<results::Standing>& standings) {
  std::vector<std::string> names;
  for (const results::Standing& standing : standings) {
    if (standing.leads) names.push_back(results.label(standing.line));
  }
  return listed(names);
}

void add_answer(Page& page, const results::Results& results, const results::Ranking& answer) {
  page.section(2, "The answer", "answer");
  add_lead(page, results, answer);
  page.section(3, "Which scheme when", "when");
  add_when(page, results, answer);
  for (const Figure& figure : beyond_figures(results, answer)) page.figure(figure);
  page.section(3, "The ranking", "ranking");
  add_ranking(page, results, answer);
  add_ranking_rules(page);
  page.section(3, answer.defaults.empty() ? "Task by task" : "The argument for the default", "argument");
  if (answer.defaults.empty()) page.paragraph("No scheme is put before the others by the rules above.");
  add_arguments(page, results, answer);
  page.paragraph(
      "Small models, small tasks and a short budget: this says how the schemes behave in this lab, not how a large "
      "model "
      "trained on much text would. Section 6 says what the lab cost and what more of it would change.",
      "note");
}

}  // namespace locus::figures
