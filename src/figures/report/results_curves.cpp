// SPDX-License-Identifier: Apache-2.0
// What was measured over length, over position and over training.
#include <algorithm>
#include <set>

#include "figures/report/html.h"
#include "figures/report/line_chart.h"
#include "figures/report/results_figures.h"
#include "locus/text.h"

namespace locus::figures {
namespace {

const std::string by_position = "_by_position";

/// "loss_by_position" as "loss by position".
std::string spoken(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

bool is_loss(const results::Task& task, const std::string& name) {
  return name == task.main ? task.is_loss : name.find("loss") != std::string::npos;
}

std::string unit_of(bool loss) { return loss ? "nats per token, lower is better" : "share right, higher is better"; }

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

/// Names of numbers over whole sequences: the main one first.
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

std::string interval_words(const results::Results& results) {
  return results.run.seeds.size() > 1 ? " Points are means over " + std::to_string(results.run.seeds.size()) +
                                            " seeds, bands their 95 % intervals."
                                      : " One seed, so there are no intervals.";
}

}  // namespace

std::vector<Figure> length_figures(const results::Results& results, const results::Task& task) {
  std::vector<Figure> figures;
  for (const std::string& name : whole_names(results, task)) {
    const std::vector<LinePoint> points =
        points_where(results, task, name, [](const results::Number& number) -> std::optional<double> {
          if (number.place != -1 || number.length <= 0) return std::nullopt;
          return static_cast<double>(number.length);
        });
    if (points.empty()) continue;
    const bool main = name == task.main, loss = is_loss(task, name);
    LineChart chart;
    chart.name = identifier(task.name + "-" + name);
    chart.title = task.title + ": " + spoken(name) + " by length";
    chart.caption =
        (main ? sentence(task.measures) : "What else was measured: " + spoken(name) + ".") + interval_words(results);
    chart.x_title = "length of the sequence, tokens";
    chart.y_title = spoken(name) + " (" + unit_of(loss) + ")";
    for (const std::int64_t length : task.lengths) chart.x_values.push_back(static_cast<double>(length));
    chart.is_share = !loss;
    if (main && task.chance) {
      chart.chance = task.chance;
      chart.caption += " The dotted level is a uniform guess (" + significant(*task.chance) + ").";
    }
    chart.mark_x = static_cast<double>(task.trained_length);
    chart.mark_label = "trained up to here";
    append(figures, line_figures(results, task, chart, points));
  }
  return figures;
}

std::vector<Figure> position_figures(const results::Results& results, const results::Task& task) {
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
    chart.title = task.title + ": " + spoken(name) + " in sequences of " + grouped(longest) + " tokens";
    chart.caption = "Each point is a bucket of positions of the longest sequences, at its first position." +
                    interval_words(results);
    chart.x_title = "position in the sequence";
    chart.y_title = spoken(name.substr(0, name.size() - by_position.size())) + " (" + unit_of(loss) + ")";
    chart.is_share = !loss;
    chart.mark_x = static_cast<double>(task.trained_length);
    chart.mark_label = "trained up to here";
    append(figures, line_figures(results, task, chart, points));
  }
  return figures;
}

std::vector<Figure> training_figures(const results::Results& results, const results::Task& task) {
  const std::vector<LinePoint> points =
      points_where(results, task, "train_loss", [](const results::Number& number) -> std::optional<double> {
        if (number.place < 0) return std::nullopt;
        return static_cast<double>(number.place);
      });
  if (points.empty()) return {};
  LineChart chart;
  chart.name = identifier(task.name + "-training");
  chart.title = task.title + ": the loss while training";
  chart.caption = "On the batches trained on, at the trained length." + interval_words(results);
  chart.x_title = "step";
  chart.y_title = "training loss (nats)";
  return line_figures(results, task, chart, points);
}

}  // namespace locus::figures
