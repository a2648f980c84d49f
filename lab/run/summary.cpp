// SPDX-License-Identifier: Apache-2.0
#include "run/summary.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "results/ranking.h"
#include "results/student_t.h"
#include "results/units.h"
#include "run/text_table.h"

namespace locus::lab {
namespace {

using results::Estimate;
using results::Number;
using results::Outcome;
using results::Results;

/// Formats "0.512 ±0.010", or the mean only if there is no interval.
std::string with_interval(const Estimate& estimate) {
  const std::string text = fixed(estimate.mean, 3);
  if (!estimate.low || !estimate.high) return text;
  return text + " ±" + fixed((*estimate.high - *estimate.low) / 2, 3);
}

std::string cell(const Number* number) {
  return number == nullptr || !number->estimate ? "-" : with_interval(*number->estimate);
}

void add_head(std::ostream& out, const results::Run& run) {
  out << "Preset " << run.preset << ": " << run.completed << " of " << run.planned << " trials finished, " << run.failed
      << " failed; seeds";
  for (const std::int64_t seed : run.seeds) out << ' ' << seed;
  out << "; " << results::duration(run.seconds) << " of work\n";
  if (run.seeds.size() == 1) {
    out << "One seed: no intervals, so the order of close lines may be chance.\n";
  } else {
    out << "Means over seeds, ± half of the 95 % interval (Student's t).\n";
  }
}

void add_ranking(std::ostream& out, const Results& results) {
  const results::Ranking ranking = results::ranking_of(results);
  out << "\nRanking, without fine-tuning\n";
  if (ranking.scored == 0) {
    out << "  In no task is a line that learned it better than an answer that ignores the input.\n";
    return;
  }
  out << "  gain: from the level of an answer that ignores the input (0) to the best line of each task (1), mean over "
      << ranking.scored << (ranking.scored == 1 ? " task\n\n" : " tasks\n\n");
  TextTable table;
  table.add({"rank", "line", "gain", "least gain", "in", "learned"});
  for (const results::RankedLine& line : ranking.lines) {
    table.add({std::to_string(line.gain.rank), results.label(line.gain.line), with_interval(line.gain.score),
               fixed(line.worst_gain, 3), line.worst->name,
               std::to_string(line.learned) + " of " + std::to_string(line.tested)});
  }
  out << table.text(2);
}

void add_heading(std::ostream& out, const results::Task& task) {
  out << "\n"
      << task.name << ": " << task.title << "\n  " << task.measures << " ("
      << (task.higher_is_better ? "higher" : "lower") << " is better; chance " << fixed(task.chance.value_or(0), 3)
      << ", most frequent answer " << fixed(task.majority.value_or(0), 3) << ", learned "
      << (task.higher_is_better ? "from " : "up to ") << fixed(task.learned_at.value_or(0), 3) << ")\n\n";
}

/// Returns the task's outcomes, best first, then those without a rank.
std::vector<const Outcome*> by_rank(const Results& results, const results::Task& task) {
  std::vector<const Outcome*> own;
  for (const Outcome& one : results.outcomes) {
    if (one.task == task.name) own.push_back(&one);
  }
  std::stable_sort(own.begin(), own.end(),
                   [](const Outcome* a, const Outcome* b) { return a->rank && (!b->rank || *a->rank < *b->rank); });
  return own;
}

void add_lengths(std::vector<std::string>& row, const results::Task& task) {
  for (const std::int64_t length : task.lengths) row.push_back(std::to_string(length));
}

void add_task_table(std::ostream& out, const Results& results, const results::Task& task) {
  TextTable table;
  std::vector<std::string> head = {"rank", "line"};
  add_lengths(head, task);
  head.emplace_back("beyond");
  table.add(head);
  std::string notes;
  for (const Outcome* outcome : by_rank(results, task)) {
    // A line without a finished trial did not fail to learn.
    const std::string mark = outcome->learned ? "" : outcome->in_range ? "not learned" : "no numbers";
    std::vector<std::string> row = {outcome->rank ? std::to_string(*outcome->rank) : "-", results.label(outcome->line)};
    for (const std::int64_t length : task.lengths) {
      row.push_back(cell(results.main_number(task, outcome->line, length)));
    }
    row.push_back(outcome->beyond ? fixed(*outcome->beyond, 3) : "-");
    row.push_back(mark);
    table.add(row);
    if (!outcome->reason.empty() && results.line(outcome->line).is_plain()) {
      notes += "  " + results.label(outcome->line) + (mark.empty() ? "" : ", " + mark) + ": " + outcome->reason + "\n";
    }
  }
  out << table.text(2) << notes;
}

void add_depths(std::ostream& out, const Results& results, const results::Task& task) {
  std::set<std::int64_t> depths;
  for (const Number& number : results.numbers) {
    if (number.task == task.name && number.name == task.main && number.place >= 0) depths.insert(number.place);
  }
  if (depths.empty()) return;
  out << "\n  by depth and length, lines that learned:\n";
  TextTable table;
  std::vector<std::string> head = {"line", "depth"};
  add_lengths(head, task);
  table.add(head);
  for (const Outcome* outcome : by_rank(results, task)) {
    if (!outcome->learned) continue;
    for (const std::int64_t depth : depths) {
      std::vector<std::string> row = {depth == *depths.begin() ? results.label(outcome->line) : "",
                                      std::to_string(depth) + " %"};
      for (const std::int64_t length : task.lengths) {
        const Number* found = results.main_number(task, outcome->line, length, depth);
        row.push_back(found == nullptr || !found->estimate ? "-" : fixed(found->estimate->mean, 2));
      }
      table.add(row);
    }
  }
  out << table.text();
}

std::string comparison(const results::Task& task, const Estimate& difference) {
  if (!difference.low) return "one seed";
  if (*difference.low <= 0 && *difference.high >= 0) return "no clear difference";
  return (*difference.low > 0) == task.higher_is_better ? "better" : "worse";
}

void add_comparisons(std::ostream& out, const Results& results, const results::Task& task) {
  TextTable table;
  std::string other;
  for (const results::Pair& pair : results.pairs) {
    if (pair.task != task.name || pair.length != task.lengths.back()) continue;
    other = pair.other;
    table.add({results.label(pair.line), comparison(task, pair.difference), with_interval(pair.difference)});
  }
  if (other.empty()) return;
  out << "\n  against " << results.label(other) << " at " << task.lengths.back() << ", paired over seeds:\n"
      << table.text(2);
}

void add_failures(std::ostream& out, const Results& results) {
  if (results.failures.empty()) return;
  out << "\nTrials that failed\n";
  for (const results::Failure& one : results.failures) {
    out << "  " << one.task << ' ' << one.scheme << ", seed " << one.seed << ": " << one.error << '\n';
  }
}

/// Only if several kinds of machine worked.
void add_machines(std::ostream& out, const Results& results) {
  std::map<std::string, std::pair<std::int64_t, std::set<std::string>>> kinds;  // trials and hosts
  for (const results::Trial& trial : results.trials) {
    auto& [trials, hosts] = kinds[trial.machine.empty() ? "unknown" : trial.machine];
    ++trials;
    hosts.insert(trial.host);
  }
  if (kinds.size() < 2) return;
  out << "\nMachines of " << kinds.size() << " kinds\n";
  for (const auto& [kind, own] : kinds) {
    out << "  " << kind << ": " << own.first << " trials on " << joined(own.second, ", ") << '\n';
  }
  for (const results::Repeat& one : results.repeats) {
    out << "  " << one.task << ' ' << one.scheme << ", seed " << one.seed << ", on " << one.machines[0] << " and on "
        << one.machines[1] << ": ";
    if (one.largest_difference == 0) {
      out << "equal numbers\n";
    } else {
      out << "numbers differ by up to " << one.largest_difference << " of their value\n";
    }
  }
  if (results.repeats.empty()) out << "  No trial was run on two of them, so their numbers are not compared.\n";
}

void add_paper_claims(std::ostream& out, const Results& results) {
  if (results.paper_claims.empty()) return;
  out << "\nWhat papers claim, and what was seen\n";
  for (const results::PaperClaim& claim : results.paper_claims) {
    out << "  " << claim.claim << " (" << claim.source << ")\n    agrees: " << claim.agrees << ". " << claim.seen
        << '\n';
  }
}

void add_budget(std::ostream& out, const Results& results) {
  out << "\nThe budget, the same for every scheme\n";
  TextTable table;
  table.add({"task", "layers", "heads", "width", "batch", "length", "steps", "fine-tune", "rate"});
  for (const results::Task& task : results.tasks) {
    std::ostringstream rate;
    rate << task.learning_rate.value_or(0);
    table.add({task.name, std::to_string(task.layers), std::to_string(task.heads), std::to_string(task.width),
               std::to_string(task.batch), std::to_string(task.trained_length), std::to_string(task.steps),
               std::to_string(task.tune_steps), rate.str()});
  }
  out << table.text()
      << "  These are small models, trained for minutes. With more steps a line that did not learn may learn, and the\n"
      << "  order may change; larger models, or data with longer dependencies, may behave differently beyond the "
         "trained\n"
      << "  length. More seeds narrow the intervals: their width is proportional to t / sqrt(seeds), ";
  const std::size_t seeds = results.run.seeds.size();
  if (seeds > 1) {
    out << "t = " << fixed(results::student_t(static_cast<int>(seeds) - 1, 0.95), 2) << " for " << seeds << " seeds, ";
  }
  out << "t = " << fixed(results::student_t(9, 0.95), 2) << " for 10.\n";
  if (!results.run.speed) return;
  out << "  Training ran at " << fixed(results.run.speed->ratio, 2)
      << " times the speed of the same model in torch's own operations.\n";
}

}  // namespace

std::string summary_text(const Results& results) {
  std::ostringstream out;
  add_head(out, results.run);
  add_ranking(out, results);
  for (const results::Task& task : results.tasks) {
    add_heading(out, task);
    add_task_table(out, results, task);
    add_depths(out, results, task);
    add_comparisons(out, results, task);
  }
  add_failures(out, results);
  add_machines(out, results);
  add_paper_claims(out, results);
  add_budget(out, results);
  return out.str();
}

}  // namespace locus::lab
