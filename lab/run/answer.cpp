// SPDX-License-Identifier: Apache-2.0
#include "run/answer.h"

#include <algorithm>
#include <map>
#include <set>

#include "locus/text.h"
#include "results/ranking.h"
#include "run/text_table.h"

namespace locus::lab {
namespace {

using results::Results;

using Cell = std::pair<std::string, std::int64_t>;  // task and seed

/// Returns the tasks and seeds whose trials have all ended.
std::set<Cell> complete_cells(const std::vector<StoredTrial>& trials) {
  std::set<Cell> complete, open;
  for (const StoredTrial& trial : trials) {
    (has_ended(trial) ? complete : open).emplace(trial.spec.task, trial.spec.seed);
  }
  for (const Cell& cell : open) complete.erase(cell);
  return complete;
}

/// Used before a cell is complete: returns that of the first finished trial, with the schemes whose trials are
/// finished.
std::set<Cell> first_cell(const std::vector<StoredTrial>& trials, std::set<std::string>& schemes) {
  std::set<Cell> cell;
  for (const StoredTrial& trial : trials) {
    if (trial.state != TrialState::finished) continue;
    if (cell.empty()) cell.emplace(trial.spec.task, trial.spec.seed);
    if (cell.contains({trial.spec.task, trial.spec.seed})) schemes.insert(trial.spec.scheme);
  }
  return cell;
}

/// Keeps only the complete seeds of `task`; returns false if nothing is left.
bool keep_cells(results::Number& number, const std::set<Cell>& cells, const std::vector<std::int64_t>& all,
                const std::vector<std::int64_t>& kept) {
  results::BySeed values(kept.size());
  bool any = false;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto seed = static_cast<std::size_t>(std::find(all.begin(), all.end(), kept[i]) - all.begin());
    if (seed >= number.values.size() || !cells.contains({number.task, kept[i]})) continue;
    values[i] = number.values[seed];
    any = any || values[i].has_value();
  }
  number.values = std::move(values);
  return any;
}

/// Formats a number in at most six columns: 0.912, 12.35, 1.2e+05.
std::string brief(double value) { return value >= 0 && value < 10 ? fixed(value, 3) : significant(value, 4); }

std::string task_names(const Results& part) {
  return joined(part.tasks, ", ", [](const results::Task& task) { return task.name; });
}

/// Makes a head, and a row per line with rank, gain and the task's main number by length, without the `skipped`
/// shortest.
std::vector<std::string> curves(const Results& part, const results::Task& task,
                                const std::vector<results::RankedLine>& rows, std::size_t label_width,
                                std::size_t skipped) {
  const std::vector<std::int64_t> lengths(task.lengths.begin() + static_cast<std::ptrdiff_t>(skipped),
                                          task.lengths.end());
  TextTable table;
  std::vector<std::string> head = {"rank", "line", "gain"};
  for (const std::int64_t length : lengths) head.push_back(std::to_string(length));
  table.add(head);
  for (const results::RankedLine& row : rows) {
    std::vector<std::string> cells = {std::to_string(row.gain.rank), shortened(part.label(row.gain.line), label_width),
                                      fixed(row.gain.score.mean, 2)};
    for (const std::int64_t length : lengths) {
      const results::Number* number = part.main_number(task, row.gain.line, length);
      cells.push_back(number == nullptr || !number->estimate ? "-" : brief(number->estimate->mean));
    }
    table.add(cells);
  }
  return lines_in(table.text(2));
}

/// The same with as many of the longest lengths as fit.
std::vector<std::string> fitting_curves(const Results& part, const results::Task& task,
                                        const std::vector<results::RankedLine>& rows, std::size_t width) {
  const std::size_t label_width = std::max<std::size_t>(8, width / 3);
  for (std::size_t skipped = 0;; ++skipped) {
    std::vector<std::string> lines = curves(part, task, rows, label_width, skipped);
    const bool fits =
        std::all_of(lines.begin(), lines.end(), [&](const auto& one) { return columns_of(one) <= width; });
    if (fits || skipped == task.lengths.size()) return lines;
  }
}

}  // namespace

std::size_t milestones(const std::vector<StoredTrial>& trials) { return complete_cells(trials).size(); }

Results finished_part(const Results& collected, const std::vector<StoredTrial>& trials) {
  std::set<Cell> cells = complete_cells(trials);
  std::set<std::string> schemes;
  if (cells.empty()) cells = first_cell(trials, schemes);
  Results part;
  part.run = collected.run;
  part.run.seeds.clear();
  for (const std::int64_t seed : collected.run.seeds) {
    const bool any = std::any_of(cells.begin(), cells.end(), [&](const Cell& cell) { return cell.second == seed; });
    if (any) part.run.seeds.push_back(seed);
  }
  part.lines = collected.lines;
  for (results::Task task : collected.tasks) {
    const bool any = std::any_of(cells.begin(), cells.end(), [&](const Cell& cell) { return cell.first == task.name; });
    if (!any) continue;
    std::erase_if(task.lines, [&](const std::string& line) {
      return !schemes.empty() && !schemes.contains(collected.line(line).trained);
    });
    part.tasks.push_back(std::move(task));
  }
  for (results::Number number : collected.numbers) {
    const results::Task* task = part.find_task(number.task);
    if (task == nullptr || number.name != task->main) continue;
    if (keep_cells(number, cells, collected.run.seeds, part.run.seeds)) part.numbers.push_back(std::move(number));
  }
  results::conclude(part);
  return part;
}

std::string latest_task(const Results& part, const std::vector<StoredTrial>& trials) {
  std::string latest;
  for (const StoredTrial& trial : trials) {
    const auto& seeds = part.run.seeds;
    const bool shown = part.find_task(trial.spec.task) != nullptr &&
                       std::find(seeds.begin(), seeds.end(), trial.spec.seed) != seeds.end();
    if (has_ended(trial) && shown) latest = trial.spec.task;
  }
  return latest;
}

std::string answer_table(const Results& part, const std::string& task_name, const Screen& screen) {
  const results::Task* const task = part.find_task(task_name);
  if (task == nullptr || screen.height < 3) return {};
  const results::Ranking ranking = results::ranking_of(part);
  const std::vector<results::RankedLine>& rows = ranking.lines;
  const std::size_t room = screen.height - 2;  // below title and head
  const std::size_t shown = rows.size() <= room ? rows.size() : room - 1;
  const std::vector<std::string> table =
      fitting_curves(part, *task, {rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown)}, screen.width);
  std::string text = shortened("ranking after " + task_names(part) + "; " + task->name + ": " + task->main +
                                   " by length, " + (task->higher_is_better ? "higher" : "lower") + " is better",
                               screen.width) +
                     '\n';
  for (std::size_t i = 0; i < table.size(); ++i) {
    const char* style = !screen.colour                                     ? ""
                        : i == 0                                           ? "\033[1m"
                        : !part.learned(task->name, rows[i - 1].gain.line) ? "\033[2m"
                        : rows[i - 1].gain.rank == 1 && ranking.scored > 0 ? "\033[32m"
                                                                           : "";
    text += style + shortened(table[i], screen.width) + (*style == '\0' ? "\n" : "\033[0m\n");
  }
  if (shown < rows.size())
    text += shortened("  and " + std::to_string(rows.size() - shown) + " more", screen.width) + '\n';
  return text;
}

std::string answer_line(const Results& part, std::size_t all_seeds, std::size_t most) {
  const results::Ranking ranking = results::ranking_of(part);
  std::vector<std::string> first;
  for (const results::RankedLine& line : ranking.lines) {
    if (first.size() == most) break;
    first.push_back(std::to_string(line.gain.rank) + " " + part.label(line.gain.line) + " " +
                    fixed(line.gain.score.mean, 2));
  }
  return "ranking after " + task_names(part) + " (" + std::to_string(part.run.seeds.size()) + " of " +
         std::to_string(all_seeds) + " seeds): " + (ranking.scored == 0 ? "nothing beats guessing yet" : joined(first));
}

}  // namespace locus::lab
