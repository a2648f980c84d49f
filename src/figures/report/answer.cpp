// SPDX-License-Identifier: Apache-2.0
#include "figures/report/answer.h"

#include <algorithm>
#include <map>

namespace locus::figures {
namespace {

template <class Wanted>
std::vector<std::string> lines_where(const Results& results, const Wanted& wanted) {
  std::vector<std::string> names;
  for (const ResultLine& line : results.lines) {
    if (wanted(line)) names.push_back(line.name);
  }
  return names;
}

TaskAnswer answer_for(const Results& results, const ResultTask& task) {
  const auto plain = lines_where(results, [](const ResultLine& line) { return line.is_plain(); });
  const auto untuned = lines_where(results, [](const ResultLine& line) { return !line.tuned; });
  const auto all = lines_where(results, [](const ResultLine&) { return true; });
  TaskAnswer answer{.task = &task,
                    .in_range = standings(results, task, Range::trained, plain),
                    .beyond = standings(results, task, Range::beyond, untuned),
                    .after_tuning = standings(results, task, Range::beyond, all),
                    .not_learned = {}};
  const bool any_tuned = std::any_of(answer.after_tuning.begin(), answer.after_tuning.end(),
                                     [&](const Standing& one) { return results.line(one.line).tuned; });
  if (!any_tuned) answer.after_tuning.clear();
  for (const ResultVerdict& verdict : results.verdicts) {
    const bool is_plain = std::find(plain.begin(), plain.end(), verdict.line) != plain.end();
    if (verdict.task == task.name && is_plain && !verdict.learned) answer.not_learned.push_back(verdict.line);
  }
  return answer;
}

/// What the share is measured from; nothing where the task is not scored.
std::optional<double> baseline_of(const TaskAnswer& answer) {
  const ResultTask& task = *answer.task;
  const std::optional<double> level = task.majority ? task.majority : task.chance;
  if (!level || answer.beyond.empty()) return std::nullopt;
  const double best = answer.beyond.front().mean.value;
  return (task.higher_is_better ? best > *level : best < *level) ? level : std::nullopt;
}

PerSeed shares_of(const Results& results, const TaskAnswer& answer, double baseline, const std::string& line) {
  const PerSeed none(results.seeds.size(), 0.0);
  if (!results.learned(answer.task->name, line)) return none;
  PerSeed values = averages(results, *answer.task, Range::beyond, line);
  if (values.empty()) return none;
  const double best = answer.beyond.front().mean.value;
  for (std::optional<double>& value : values) {
    if (value) value = std::max(0.0, (*value - baseline) / (best - baseline));
  }
  return values;
}

double mean_share(const PerSeed& shares) {
  double sum = 0, count = 0;
  for (const std::optional<double>& share : shares) {
    sum += share.value_or(0);
    count += share ? 1 : 0;
  }
  return count > 0 ? sum / count : 0;
}

/// The row but for its standing, and what it is to be ranked by.
OverallRow row_of(const Results& results, const Answer& answer, const std::string& line, PerSeed& mean) {
  OverallRow row;
  row.share.line = line;
  mean.assign(results.seeds.size(), 0.0);
  double whole = 0;
  for (const TaskAnswer& task : answer.tasks) {
    for (const ResultVerdict& verdict : results.verdicts) {
      if (verdict.task != task.task->name || verdict.line != line) continue;
      ++row.tested;
      row.learned += verdict.learned ? 1 : 0;
    }
    for (const Standing& one : task.beyond) row.leads_beyond += one.line == line && one.leads ? 1 : 0;
    const std::optional<double> baseline = baseline_of(task);
    if (!baseline) continue;
    const PerSeed shares = shares_of(results, task, *baseline, line);
    for (std::size_t seed = 0; seed < mean.size(); ++seed) {
      if (seed >= shares.size() || !shares[seed]) mean[seed].reset();
      if (mean[seed]) *mean[seed] += *shares[seed] / static_cast<double>(answer.scored);
    }
    const double own = mean_share(shares);
    whole += own / static_cast<double>(answer.scored);
    if (row.worst != nullptr && own >= row.worst_share) continue;
    row.worst = task.task;
    row.worst_share = own;
  }
  // No seed has all tasks: the mean of the tasks' means is a number still, without an interval.
  if (std::none_of(mean.begin(), mean.end(), [](const auto& one) { return one.has_value(); })) mean = {whole};
  return row;
}

}  // namespace

Answer answer_of(const Results& results) {
  Answer answer;
  for (const ResultTask& task : results.tasks) {
    answer.tasks.push_back(answer_for(results, task));
    answer.can_tell = answer.can_tell || can_tell(answer.tasks.back().beyond);
    answer.scored += baseline_of(answer.tasks.back()) ? 1 : 0;
  }
  std::map<std::string, OverallRow> rows;
  std::vector<Candidate> candidates;
  for (const ResultLine& line : results.lines) {
    if (line.tuned) continue;
    PerSeed mean;
    OverallRow row = row_of(results, answer, line.name, mean);
    if (row.tested == 0) continue;
    rows.emplace(line.name, std::move(row));
    candidates.push_back({line.name, std::move(mean)});
  }
  for (Standing& standing : ranked(std::move(candidates), true)) {
    answer.rows.push_back(rows.at(standing.line));
    answer.rows.back().share = std::move(standing);
  }
  if (!answer.can_tell || answer.scored == 0 || answer.rows.empty() || answer.rows.front().share.mean.seeds < 2)
    return answer;
  for (const OverallRow& row : answer.rows) {
    if (row.share.leads) answer.defaults.push_back(row.share.line);
  }
  return answer;
}

}  // namespace locus::figures
