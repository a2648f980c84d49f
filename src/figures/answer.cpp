// SPDX-License-Identifier: Apache-2.0
#include "figures/answer.h"

#include <algorithm>
#include <tuple>

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

std::size_t leads(const std::vector<Standing>& standings, const std::string& line) {
  return std::any_of(standings.begin(), standings.end(),
                     [&](const Standing& one) { return one.line == line && one.leads; })
             ? 1
             : 0;
}

OverallRow row_of(const Results& results, const Answer& answer, const ResultLine& line) {
  OverallRow row;
  row.line = line.name;
  double places = 0;
  std::size_t placed = 0;
  for (const TaskAnswer& task : answer.tasks) {
    for (const ResultVerdict& verdict : results.verdicts) {
      if (verdict.task != task.task->name || verdict.line != line.name) continue;
      ++row.tested;
      row.learned += verdict.learned ? 1 : 0;
    }
    row.leads_in_range += leads(task.in_range, line.trained);
    row.leads_beyond += leads(task.beyond, line.name);
    for (std::size_t place = 0; place < task.beyond.size(); ++place) {
      if (task.beyond[place].line != line.name) continue;
      places += static_cast<double>(place + 1);
      ++placed;
    }
  }
  if (placed > 0) row.mean_place = places / static_cast<double>(placed);
  return row;
}

auto counts(const OverallRow& row) { return std::tuple(row.leads_beyond, row.leads_in_range, row.learned); }

}  // namespace

Answer answer_of(const Results& results) {
  Answer answer;
  for (const ResultTask& task : results.tasks) {
    answer.tasks.push_back(answer_for(results, task));
    answer.can_tell = answer.can_tell || can_tell(answer.tasks.back().beyond);
  }
  for (const ResultLine& line : results.lines) {
    if (line.tuned) continue;
    const OverallRow row = row_of(results, answer, line);
    if (row.tested > 0) answer.rows.push_back(row);
  }
  std::stable_sort(answer.rows.begin(), answer.rows.end(), [](const OverallRow& a, const OverallRow& b) {
    if (counts(a) != counts(b)) return counts(a) > counts(b);
    if ((a.learned == 0) != (b.learned == 0)) return a.learned > 0;
    return a.mean_place < b.mean_place;
  });
  if (!answer.can_tell || answer.rows.empty() || answer.rows.front().leads_beyond == 0) return answer;
  for (const OverallRow& row : answer.rows) {
    if (counts(row) == counts(answer.rows.front())) answer.defaults.push_back(row.line);
  }
  return answer;
}

}  // namespace locus::figures
