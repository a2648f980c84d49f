// SPDX-License-Identifier: Apache-2.0
// Charts of numbers by length, by position and by training step.
#include <algorithm>
#include <set>

#include "figures/report/html.h"
#include "figures/report/line_chart.h"
#include "figures/report/results_figures.h"
#include "locus/text.h"

namespace locus::figures {
namespace {

const std::string by_position = "_by_position";

/// Formats "loss_by_position" as "loss by position".
std::string spoken(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

bool is_loss(const results::Task& task, const std::string& name) {
  return name == task.main ? task.is_loss : name.find("loss") != std::string::npos;
}

/// Formats "loss (nats per token, lower is better)".
std::string with_unit(const std::string& name, bool loss, const Words& words) {
  return words(loss ? Message::chart_loss_axis : Message::chart_share_axis, {{"number", words.phrase(spoken(name))}});
}

std::vector<LinePoint> points_where(const results::Results& results, const results::Task& task, const std::string& name,
                                    const std::function<std::optional<double>(const results::Number&)>& x) {
  std::vector<LinePoint> points;
  for (const results::Number& number : results.numbers) {
    if (number.task != task.name || number.name != name || !number.estimate) continue;
    if (const std::optional<double> at = x(number)) {
      points.push_back({number.line, *at, number.estimate->mean, number.estimate->low, number.estimate->high});
    }
  }
  std::stable_sort(points.begin(), points.end(), [](const LinePoint& a, const LinePoint& b) { return a.x < b.x; });
  return points;
}

/// Returns the names of numbers over whole sequences, the main one first.
std::vector<std::string> whole_names(const results::Results& results, const results::Task& task) {
  std::vector<std::string> names = {task.main};
  std::set<std::string> seen(names.begin(), names.end());
  for (const results::Number& number : results.numbers) {
    if (number.task == task.name && number.place == -1 && number.length > 0 && seen.insert(number.name).second) {
      names.push_back(number.name);
    }
  }
  return names;
}

std::string interval_words(const results::Results& results, const Words& words) {
  const std::size_t seeds = results.run.seeds.size();
  return " " +
         (seeds > 1 ? words(Message::chart_bands, {{"seeds", std::to_string(seeds)}}) : words(Message::chart_no_bands));
}

/// Cuts an interval to the range of the seeds: over few seeds, Student's t reaches far beyond it.
void clip_to_seen(LinePoint& point, const results::BySeed& values) {
  if (!point.low || !point.high) return;
  double least = point.mean, most = point.mean;
  for (const std::optional<double>& value : values) {
    if (!value) continue;
    least = std::min(least, *value);
    most = std::max(most, *value);
  }
  point.low = std::max(*point.low, least);
  point.high = std::min(*point.high, most);
}

}  // namespace

LineChart length_chart(const results::Results& results, const results::Task& task, const std::string& name,
                       const Words& words) {
  const bool main = name == task.main, loss = is_loss(task, name);
  LineChart chart;
  chart.name = identifier(task.name + "-" + name);
  chart.title = words(Message::chart_by_length, {{"task", task.title}, {"number", words.phrase(spoken(name))}});
  chart.caption =
      (main ? sentence(task.measures) : words(Message::chart_also_measured, {{"number", words.phrase(spoken(name))}})) +
      interval_words(results, words);
  chart.x_title = words(Message::chart_length);
  chart.y_title = with_unit(name, loss, words);
  for (const std::int64_t length : task.lengths) chart.x_values.push_back(static_cast<double>(length));
  chart.is_share = !loss;
  if (main && task.chance) {
    chart.chance = task.chance;
    chart.caption += " " + words(Message::chart_chance, {{"level", significant(*task.chance)}});
  }
  chart.mark_x = static_cast<double>(task.trained_length);
  chart.mark_label = words(Message::chart_trained_mark);
  return chart;
}

std::vector<LinePoint> length_points(const results::Results& results, const results::Task& task,
                                     const std::string& name) {
  return points_where(results, task, name, [](const results::Number& number) -> std::optional<double> {
    if (number.place != -1 || number.length <= 0) return std::nullopt;
    return static_cast<double>(number.length);
  });
}

std::vector<Figure> length_figures(const results::Results& results, const results::Task& task, const Words& words) {
  std::vector<Figure> figures;
  for (const std::string& name : whole_names(results, task)) {
    const std::vector<LinePoint> points = length_points(results, task, name);
    if (points.empty()) continue;
    append(figures, line_figures(results, task, length_chart(results, task, name, words), points, words));
  }
  return figures;
}

std::vector<Figure> position_figures(const results::Results& results, const results::Task& task, const Words& words) {
  std::vector<Figure> figures;
  std::set<std::string> names;
  for (const results::Number& number : results.numbers) {
    if (number.task == task.name && number.name.ends_with(by_position)) names.insert(number.name);
  }
  const std::int64_t longest = task.lengths.empty() ? 0 : *std::max_element(task.lengths.begin(), task.lengths.end());
  for (const std::string& name : names) {
    const std::vector<LinePoint> points =
        points_where(results, task, name, [&](const results::Number& number) -> std::optional<double> {
          if (number.place < 0 || number.length != longest) return std::nullopt;
          return static_cast<double>(number.place);
        });
    if (points.empty()) continue;
    const bool loss = is_loss(task, name);
    LineChart chart;
    chart.name = identifier(task.name + "-" + name);
    const std::string number = name.substr(0, name.size() - by_position.size());
    chart.title =
        words(Message::chart_by_position,
              {{"task", task.title}, {"number", words.phrase(spoken(number))}, {"length", words.grouped(longest)}});
    chart.caption = words(Message::chart_buckets) + interval_words(results, words);
    chart.x_title = words(Message::chart_position);
    chart.y_title = with_unit(number, loss, words);
    chart.is_share = !loss;
    chart.mark_x = static_cast<double>(task.trained_length);
    chart.mark_label = words(Message::chart_trained_mark);
    append(figures, line_figures(results, task, chart, points, words));
  }
  return figures;
}

std::vector<Figure> training_figures(const results::Results& results, const results::Task& task, const Words& words) {
  std::vector<LinePoint> points;
  for (const results::Number& number : results.numbers) {
    if (number.task != task.name || number.name != "train_loss" || number.place < 0 || !number.estimate) continue;
    const results::Estimate& found = *number.estimate;
    points.push_back({number.line, static_cast<double>(number.place), found.mean, found.low, found.high});
    clip_to_seen(points.back(), number.values);
  }
  if (points.empty()) return {};
  std::stable_sort(points.begin(), points.end(), [](const LinePoint& a, const LinePoint& b) { return a.x < b.x; });
  LineChart chart;
  chart.name = identifier(task.name + "-training");
  chart.title = words(Message::chart_training, {{"task", task.title}});
  chart.caption = words(Message::chart_training_caption) + interval_words(results, words);
  if (results.run.seeds.size() > 1) chart.caption += " " + words(Message::chart_bands_seen);
  chart.x_title = words(Message::chart_step);
  chart.y_title = words(Message::chart_training_axis);
  return line_figures(results, task, chart, points, words);
}

}  // namespace locus::figures
