// SPDX-License-Identifier: Apache-2.0
#include "results/ranking.h"

#include <algorithm>
#include <map>

namespace locus::results {
namespace {

TaskRanking rank_task(const Results& results, const Task& task) {
  std::vector<std::string> plain, untuned, all;
  for (const Line& line : results.lines) {
    all.push_back(line.name);
    if (!line.tuned) untuned.push_back(line.name);
    if (line.is_plain()) plain.push_back(line.name);
  }
  const Range range = ranked_range(task);
  TaskRanking ranking{.task = &task,
                      .in_range = standings(results, task, Range::trained, plain),
                      .beyond = standings(results, task, range, untuned),
                      .after_tuning = standings(results, task, range, all),
                      .not_learned = {},
                      .zeros = BySeed(results.run.seeds.size())};
  for (const Number& number : results.numbers) {
    if (number.task != task.name) continue;
    for (std::size_t seed = 0; seed < std::min(number.values.size(), ranking.zeros.size()); ++seed) {
      if (number.values[seed]) ranking.zeros[seed] = 0;
    }
  }
  if (ranking.after_tuning.size() == ranking.beyond.size()) ranking.after_tuning.clear();  // none was fine-tuned
  for (const std::string& line : plain) {
    const Outcome* outcome = results.outcome(task.name, line);
    if (outcome != nullptr && !outcome->learned) ranking.not_learned.push_back(line);
  }
  return ranking;
}

/// Returns the level from which gains count; absent if the task is not scored.
std::optional<double> level_of(const TaskRanking& ranking) {
  const std::optional<double> level = ranking.task->level();
  if (!level || ranking.beyond.empty()) return std::nullopt;
  return ranking.task->is_better(ranking.beyond.front().score.mean, *level) ? level : std::nullopt;
}

BySeed gains_of(const Results& results, const TaskRanking& ranking, double level, const std::string& line) {
  if (!results.learned(ranking.task->name, line)) return ranking.zeros;
  BySeed values = averages(results, *ranking.task, ranked_range(*ranking.task), line);
  if (values.empty()) return ranking.zeros;
  const double best = ranking.beyond.front().score.mean;
  for (std::optional<double>& value : values) {
    if (value) value = std::max(0.0, (*value - level) / (best - level));
  }
  return values;
}

double mean_of_present(const BySeed& values) {
  const std::optional<Estimate> found = estimate(values);
  return found ? found->mean : 0;
}

/// Returns the line without its standing, and the gains by seed that rank it.
RankedLine gather(const Results& results, const Ranking& ranking, const std::string& line, BySeed& mean) {
  RankedLine row;
  row.gain.line = line;
  mean.assign(results.run.seeds.size(), 0.0);
  double whole = 0;
  for (const TaskRanking& task : ranking.tasks) {
    if (const Outcome* outcome = results.outcome(task.task->name, line)) {
      ++row.tested;
      row.learned += outcome->learned ? 1 : 0;
    }
    for (const Standing& one : task.beyond) row.leads_beyond += one.line == line && one.leads ? 1 : 0;
    const std::optional<double> level = level_of(task);
    if (!level) continue;
    const BySeed gains = gains_of(results, task, *level, line);
    for (std::size_t seed = 0; seed < mean.size(); ++seed) {
      if (seed >= gains.size() || !gains[seed]) mean[seed].reset();
      if (mean[seed]) *mean[seed] += *gains[seed] / static_cast<double>(ranking.scored);
    }
    const double own = mean_of_present(gains);
    whole += own / static_cast<double>(ranking.scored);
    if (row.worst != nullptr && own >= row.worst_gain) continue;
    row.worst = task.task;
    row.worst_gain = own;
  }
  // If no seed has all tasks, the mean of the tasks' means is still a number, without an interval.
  if (std::none_of(mean.begin(), mean.end(), [](const auto& one) { return one.has_value(); })) mean = {whole};
  return row;
}

}  // namespace

Ranking ranking_of(const Results& results) {
  Ranking ranking;
  for (const Task& task : results.tasks) {
    ranking.tasks.push_back(rank_task(results, task));
    ranking.can_tell = ranking.can_tell || can_tell(ranking.tasks.back().beyond);
    ranking.scored += level_of(ranking.tasks.back()) ? 1 : 0;
  }
  std::map<std::string, RankedLine> rows;
  std::vector<Candidate> candidates;
  for (const Line& line : results.lines) {
    if (line.tuned) continue;
    BySeed mean;
    RankedLine row = gather(results, ranking, line.name, mean);
    if (row.tested == 0) continue;
    rows.emplace(line.name, std::move(row));
    candidates.push_back({line.name, std::move(mean)});
  }
  for (Standing& standing : ranked(std::move(candidates), true)) {
    ranking.lines.push_back(rows.at(standing.line));
    ranking.lines.back().gain = std::move(standing);
  }
  const bool decides =
      ranking.can_tell && ranking.scored > 0 && !ranking.lines.empty() && ranking.lines.front().gain.score.seeds >= 2;
  for (const RankedLine& line : ranking.lines) {
    if (decides && line.gain.leads) ranking.defaults.push_back(line.gain.line);
  }
  return ranking;
}

}  // namespace locus::results
