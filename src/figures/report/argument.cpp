// SPDX-License-Identifier: Apache-2.0
#include "figures/report/argument.h"

#include <algorithm>

#include "figures/report/report_parts.h"
#include "locus/text.h"

namespace locus::figures {
namespace {

std::vector<std::string> labels(const results::Results& results, const std::vector<std::string>& lines) {
  std::vector<std::string> all;
  for (const std::string& line : lines) all.push_back(results.label(line));
  return all;
}

std::string gain_text(const results::Ranking& answer, const results::RankedLine& row, const Words& words) {
  return words(Message::lead_gain, {{"gain", with_interval(shown_gain(row))},
                                    {"least", significant(row.worst_gain)},
                                    {"task", row.worst->title},
                                    {"leads", count_of(row.leads_beyond, answer.tasks.size(), words)},
                                    {"learned", count_of(row.learned, row.tested, words)}});
}

/// Compares the cost of a training step of the line's scheme with that of the cheapest.
std::string cost_text(const results::Results& results, const std::string& line, const Words& words) {
  const std::string trained = results.line(line).trained;
  for (const results::Task& task : results.tasks) {
    double least = 0, own = 0;
    for (const results::Cost& cost : results.costs) {
      if (cost.task != task.name || !cost.seconds_per_step) continue;
      least = least == 0 ? *cost.seconds_per_step : std::min(least, *cost.seconds_per_step);
      if (cost.line == trained) own = *cost.seconds_per_step;
    }
    if (own == 0 || least == 0) continue;
    return words(Message::lead_cost,
                 {{"task", task.name}, {"time", significant(own * 1000)}, {"ratio", fixed(own / least, 2)}});
  }
  return {};
}

/// Compares the line with the best one in a task.
std::string case_text(const results::Results& results, const results::TaskRanking& task, const std::string& line,
                      const Words& words) {
  const results::Standing* own = find_standing(task.beyond, line);
  if (own == nullptr) {
    return words(results.learned(task.task->name, line) ? Message::case_not_tested : Message::case_not_learned);
  }
  const auto shown = [&](const results::Standing& standing) {
    return with_interval(results::shown(*task.task, standing.score));
  };
  const std::string number = words.phrase(task.task->main);
  const results::Standing& best = task.beyond.front();
  if (own == &best) {
    const std::string others = leaders_text(results, {task.beyond.begin() + 1, task.beyond.end()}, words);
    if (others.empty()) return words(Message::case_best, {{"number", number}, {"value", shown(best)}});
    return words(Message::case_best_with, {{"number", number}, {"value", shown(best)}, {"others", others}});
  }
  std::string text =
      words(Message::case_behind,
            {{"number", number}, {"value", shown(*own)}, {"best", shown(best)}, {"line", results.label(best.line)}});
  if (own->difference) text += words(Message::case_difference, {{"value", with_interval(*own->difference)}});
  return text + (own->leads ? words(Message::case_chance) : "") + ".";
}

std::vector<TaskCase> cases_of(const results::Results& results, const results::Ranking& answer, const std::string& line,
                               const Words& words) {
  std::vector<TaskCase> cases;
  for (const results::TaskRanking& task : answer.tasks) {
    cases.push_back({task.task->title, case_text(results, task, line, words)});
  }
  return cases;
}

}  // namespace

std::string count_of(std::size_t count, std::size_t all, const Words& words) {
  return words(Message::of_count, {{"count", std::to_string(count)}, {"all", std::to_string(all)}});
}

const results::Standing* find_standing(const std::vector<results::Standing>& standings, const std::string& line) {
  const auto found =
      std::find_if(standings.begin(), standings.end(), [&](const results::Standing& one) { return one.line == line; });
  return found == standings.end() ? nullptr : &*found;
}

results::Estimate shown_gain(const results::RankedLine& row) { return results::shown(results::Task{}, row.gain.score); }

std::string default_sentence(const results::Results& results, const results::Ranking& answer, const Words& words) {
  if (!answer.can_tell) return words(Message::lead_cannot_tell);
  if (answer.defaults.empty()) return words(Message::lead_no_default);
  const std::string gain = gain_text(answer, answer.lines.front(), words);
  const std::string best = results.label(answer.defaults.front());
  if (answer.defaults.size() == 1) {
    return words(Message::lead_one,
                 {{"line", best}, {"gain", gain}, {"cost", cost_text(results, answer.defaults.front(), words)}});
  }
  return words(Message::lead_several,
               {{"lines", words.all_of(labels(results, answer.defaults))}, {"line", best}, {"gain", gain}});
}

std::vector<LineCase> default_cases(const results::Results& results, const results::Ranking& answer,
                                    const Words& words) {
  std::vector<LineCase> all;
  for (const std::string& line : answer.defaults) {
    all.push_back(
        {words(Message::argument_case, {{"line", results.label(line)}}), cases_of(results, answer, line, words)});
  }
  const bool has_rope = std::any_of(answer.lines.begin(), answer.lines.end(),
                                    [](const results::RankedLine& row) { return row.gain.line == "rope"; });
  const bool is_default = std::find(answer.defaults.begin(), answer.defaults.end(), "rope") != answer.defaults.end();
  if (has_rope && !is_default) {
    all.push_back(
        {words(Message::argument_rope, {{"line", results.label("rope")}}), cases_of(results, answer, "rope", words)});
  }
  return all;
}

}  // namespace locus::figures
