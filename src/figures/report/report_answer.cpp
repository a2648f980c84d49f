// SPDX-License-Identifier: Apache-2.0
// Section 1: which scheme to use when. Every sentence follows from a count or a difference by the rules it states.
#include <algorithm>

#include "figures/numbers.h"
#include "figures/report/report_parts.h"
#include "figures/report/results_figures.h"
#include "figures/spec.h"

namespace locus::figures {
namespace {

std::string of(std::size_t count, std::size_t all) { return std::to_string(count) + " of " + std::to_string(all); }

const Standing* find(const std::vector<Standing>& standings, const std::string& line) {
  const auto found =
      std::find_if(standings.begin(), standings.end(), [&](const Standing& one) { return one.line == line; });
  return found == standings.end() ? nullptr : &*found;
}

std::vector<std::string> labels(const Results& results, const std::vector<std::string>& lines) {
  std::vector<std::string> all;
  for (const std::string& line : lines) all.push_back(results.label(line));
  return all;
}

/// The share of what the best of each task gains, which like any share is shown within 0 and 1.
Mean shown_share(const OverallRow& row) { return shown(ResultTask{}, row.share.mean); }

Html share_text(const Answer& answer, const OverallRow& row) {
  return Html("beyond the training length it has ") + strong(with_interval(shown_share(row))) +
         Html(" of what the best scheme of each task gains over an answer that ignores the input, averaged over " +
              std::to_string(answer.scored) + (answer.scored == 1 ? " task" : " tasks") + ", and at worst " +
              significant(row.worst_share) + " (" + row.worst->title + "). It leads in " +
              of(row.leads_beyond, answer.tasks.size()) + " tasks and learned " + of(row.learned, row.tested) +
              " that it was tested in");
}

/// What a training step of the line's scheme costs beside the cheapest, where it was measured.
std::string cost_text(const Results& results, const std::string& line) {
  const std::string trained = results.line(line).trained;
  for (const ResultTask& task : results.tasks) {
    double least = 0, own = 0;
    for (const ResultCost& cost : results.costs) {
      if (cost.task != task.name || !cost.seconds_per_step) continue;
      least = least == 0 ? *cost.seconds_per_step : std::min(least, *cost.seconds_per_step);
      if (cost.line == trained) own = *cost.seconds_per_step;
    }
    if (own == 0 || least == 0) continue;
    return " A training step of " + task.name + " took " + significant(own * 1000) + " ms, " + fixed(own / least, 2) +
           " times that of the quickest scheme.";
  }
  return {};
}

void add_lead(Page& page, const Results& results, const Answer& answer) {
  if (!answer.can_tell) {
    page.paragraph(strong("These numbers cannot tell the schemes apart.") +
                       Html(" No task has two schemes that learned it with two seeds or more, so no difference has an "
                            "interval. The order below is that of single runs, which another seed may turn around."),
                   "lead");
    return;
  }
  if (answer.defaults.empty()) {
    page.paragraph(
        strong("These numbers give no default.") +
            Html(" In no task is a scheme that learned it better, beyond the training length, than an answer that "
                 "ignores the input."),
        "lead");
    return;
  }
  const OverallRow& first = answer.rows.front();
  const std::string best = results.label(answer.defaults.front());
  if (answer.defaults.size() == 1) {
    page.paragraph(Html("The default that these numbers argue for is ") + strong(best) + Html(": ") +
                       share_text(answer, first) + Html("." + cost_text(results, answer.defaults.front())),
                   "lead");
    return;
  }
  page.paragraph(Html("These numbers argue for ") + strong(listed(labels(results, answer.defaults))) +
                     Html(" alike: their difference from the first cannot be told from none. Of " + best + ": ") +
                     share_text(answer, first) + Html("."),
                 "lead");
}

/// How the line did in each task, against the best.
void add_case(Page& page, const Results& results, const Answer& answer, const std::string& line) {
  std::vector<Html> items;
  for (const TaskAnswer& task : answer.tasks) {
    const Standing* own = find(task.beyond, line);
    Html item = strong(task.task->title) + Html(": ");
    if (own == nullptr) {
      item += results.learned(task.task->name, line) ? Html("not tested beyond the training length.")
                                                     : Html("not learned within this budget, so not ranked.");
    } else if (own == &task.beyond.front()) {
      item += Html(task.task->main + " " + with_interval(shown(*task.task, own->mean)) + ", the best mean");
      const std::string others = leaders_text(results, {task.beyond.begin() + 1, task.beyond.end()});
      item += others.empty() ? Html(", and ahead of every other scheme.") : Html("; not told from it: " + others + ".");
    } else {
      item += Html(task.task->main + " " + with_interval(shown(*task.task, own->mean)) + " against " +
                   with_interval(shown(*task.task, task.beyond.front().mean)) + " of " +
                   results.label(task.beyond.front().line));
      if (own->difference) item += Html("; difference " + with_interval(*own->difference));
      item += Html(own->leads ? ", which cannot be told from none." : ".");
    }
    items.push_back(item);
  }
  page.list(items);
}

void add_arguments(Page& page, const Results& results, const Answer& answer) {
  for (const std::string& line : answer.defaults) {
    page.paragraph(Html("The case for ") + strong(results.label(line)) + Html(", beyond the training length:"));
    add_case(page, results, answer, line);
  }
  const bool has_rope = std::any_of(answer.rows.begin(), answer.rows.end(),
                                    [](const OverallRow& row) { return row.share.line == "rope"; });
  const bool is_default = std::find(answer.defaults.begin(), answer.defaults.end(), "rope") != answer.defaults.end();
  if (has_rope && !is_default) {
    page.paragraph(Html("Plain ") + strong(results.label("rope")) +
                   Html(", what most of today's language models are trained with, in the same run:"));
    add_case(page, results, answer, "rope");
  }
}

std::string leaders_or_why(const Results& results, const ResultTask& task, const std::vector<Standing>& standings) {
  if (standings.empty()) {
    const bool any = std::any_of(results.verdicts.begin(), results.verdicts.end(), [&](const ResultVerdict& verdict) {
      return verdict.task == task.name && verdict.learned;
    });
    return any ? "not measured" : "none learned it";
  }
  if (!can_tell(standings) && standings.size() > 1) {
    return results.label(standings.front().line) + " has the best mean; one seed cannot tell";
  }
  const std::string leaders = leaders_text(results, standings);
  const bool all = std::all_of(standings.begin(), standings.end(), [](const Standing& one) { return one.leads; });
  return all && standings.size() > 1 ? "cannot tell: " + leaders : leaders;
}

void add_when(Page& page, const Results& results, const Answer& answer) {
  const bool tuned = std::any_of(answer.tasks.begin(), answer.tasks.end(),
                                 [](const TaskAnswer& task) { return !task.after_tuning.empty(); });
  Table table;
  table.head = {"If what matters is", "at the training length", "beyond it, as trained"};
  if (tuned) table.head.emplace_back("beyond it, with a short fine-tune");
  for (const TaskAnswer& task : answer.tasks) {
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

Cell number_cell(const Results& results, const TaskAnswer& task, const std::string& line) {
  if (const Standing* standing = find(task.beyond, line)) {
    return {stacked(shown(*task.task, standing->mean)), standing->leads && can_tell(task.beyond) ? "good" : ""};
  }
  const bool tested = std::any_of(results.verdicts.begin(), results.verdicts.end(), [&](const ResultVerdict& verdict) {
    return verdict.task == task.task->name && verdict.line == line;
  });
  return {Html(!tested ? "not tested" : results.learned(task.task->name, line) ? "not beyond" : "not learned"), "dim"};
}

Cell worst_cell(const OverallRow& row) {
  if (row.worst == nullptr) return "";
  return {Html(significant(row.worst_share)) + Html::raw("<br>") + element("small", row.worst->name), ""};
}

void add_ranking(Page& page, const Results& results, const Answer& answer) {
  Table table;
  table.head = {{"", "number"},           {"scheme", "tight"}, {"share of the best", "number"},
                {"worst task", "number"}, {"leads", "number"}, {"learned", "number"}};
  for (const TaskAnswer& task : answer.tasks) {
    table.head.push_back({Html(task.task->name + (task.task->higher_is_better ? ", higher" : ", lower")), "number"});
  }
  std::size_t place = 0;
  bool cut = false;
  for (const OverallRow& row : answer.rows) {
    const std::string& line = row.share.line;
    std::vector<Cell> cells = {std::to_string(++place),
                               results.label(line),
                               stacked(shown_share(row)),
                               worst_cell(row),
                               of(row.leads_beyond, answer.tasks.size()),
                               of(row.learned, row.tested)};
    cut = cut || is_cut(ResultTask{}, row.share.mean);
    for (const TaskAnswer& task : answer.tasks) {
      cells.push_back(number_cell(results, task, line));
      const Standing* standing = find(task.beyond, line);
      cut = cut || (standing != nullptr && is_cut(*task.task, standing->mean));
    }
    table.rows.push_back(std::move(cells));
    const bool chosen = std::find(answer.defaults.begin(), answer.defaults.end(), line) != answer.defaults.end();
    table.row_styles.emplace_back(chosen ? "first" : row.learned == 0 ? "dim" : "");
  }
  page.paragraph(
      "Ordered by the share of the best: how far a scheme comes, beyond the training length, from the best answer that "
      "ignores the input (0) to the best scheme of the task (1), averaged over tasks, where a task not learned counts "
      "as 0.");
  page.table(
      table,
      "Task columns: the main number, averaged over every length beyond the one trained at, with its 95 % interval "
      "over seeds; higher or lower is better, as the head says. Green leads." +
          (cut ? cut_words : ""));
}

void add_rules(Page& page) {
  page.begin_details("The rules behind these sentences");
  const std::vector<Html> rules = {
      "A scheme is ranked in a task only if it learned it: at the training length it had to reach the level that the "
      "task "
      "states (section 4).",
      "Its number is the task's main one, averaged seed by seed over all tested lengths beyond the training length; in "
      "range "
      "it is the one at the training length.",
      "The best mean leads. So does every scheme whose difference from it, paired over seeds, has a 95 % interval "
      "(Student's "
      "t) that holds 0. Each comparison stands for itself; nothing is corrected for their number, so with many schemes "
      "one "
      "in twenty is expected to look different by chance.",
      "Schemes without further training are ordered by their share of the best, averaged over tasks seed by seed. In "
      "a task it is (score - level) / (best - level), where the level is that of the best answer that ignores the "
      "input "
      "(of a uniform guess, where the task has no other). Not learned, not tested or below the level is 0; a task in "
      "which no scheme is better than the level is left out.",
      "The default is the first of that order, and every scheme whose difference from it, paired over seeds, has a 95 "
      "% "
      "interval that holds 0. The worst task stands beside it, since a mean can hide one.",
      "With one seed no interval exists, and no default is named."};
  page.list(rules);
  page.end_details();
}

}  // namespace

std::string leaders_text(const Results& results, const std::vector<Standing>& standings) {
  std::vector<std::string> names;
  for (const Standing& standing : standings) {
    if (standing.leads) names.push_back(results.label(standing.line));
  }
  return listed(names);
}

void add_answer(Page& page, const Results& results, const Answer& answer) {
  page.section(2, "The answer", "answer");
  add_lead(page, results, answer);
  page.section(3, "Which scheme when", "when");
  add_when(page, results, answer);
  for (const Figure& figure : beyond_figures(results, answer)) page.figure(figure);
  page.section(3, "The ranking", "ranking");
  add_ranking(page, results, answer);
  add_rules(page);
  page.section(3, answer.defaults.empty() ? "Task by task" : "The argument for the default", "argument");
  if (answer.defaults.empty()) page.paragraph("No scheme is put before the others by the rules above.");
  add_arguments(page, results, answer);
  page.paragraph(
      "Small models, small tasks and a short budget: this says how the schemes behave in this lab, not how a large "
      "model "
      "trained on much text would. Section 6 says what was spent and what more of it would change.",
      "note");
}

}  // namespace locus::figures
