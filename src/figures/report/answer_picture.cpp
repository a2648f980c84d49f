// SPDX-License-Identifier: Apache-2.0
// The first chart of the report: every line, labelled where it ends. The colour shows the scheme, the dashes show how
// the line was stretched or tuned.
#include <algorithm>
#include <cmath>

#include "figures/report/results_figures.h"
#include "locus/text.h"
#include "results/holding.h"

namespace locus::figures {
namespace {

constexpr double label_height = 15;  // pixels from one label to the next
constexpr double least_height = 380;

/// Returns the heights of labels in pixels from the top: in the order given, at least `gap` apart, inside the frame,
/// near `wanted`.
std::vector<double> spread_out(const std::vector<double>& wanted, double gap, double height) {
  std::vector<double> places = wanted;
  for (std::size_t i = 1; i < places.size(); ++i) places[i] = std::max(places[i], places[i - 1] + gap);
  double lowest = height;
  for (std::size_t i = places.size(); i-- > 0; lowest -= gap) {
    places[i] = std::min(places[i], lowest);
    lowest = places[i];
  }
  return places;
}

/// Converts values of the y scale to pixels from the top, and back.
class Frame {
 public:
  Frame(const Json& scale, double height) : log_(scale.value("type", "") == "log"), height_(height) {
    low_ = mapped(scale["domain"][0]);
    high_ = mapped(scale["domain"][1]);
  }
  double pixel(double value) const { return height_ * (high_ - mapped(value)) / (high_ - low_); }
  double value(double pixel) const {
    const double at = high_ - pixel / height_ * (high_ - low_);
    return log_ ? std::exp(at) : at;
  }

 private:
  double mapped(double value) const { return log_ ? std::log(value) : value; }
  bool log_;
  double height_, low_ = 0, high_ = 1;
};

/// Returns what was done to a scheme, "+ YaRN", or for a plain line its label.
std::string short_label(const results::Results& results, const results::Line& line, const std::string& whole) {
  const std::string scheme = results.label(line.trained);
  if (line.is_plain() || !whole.starts_with(scheme)) return whole;
  const std::size_t rest = whole.find_first_not_of(" +,", scheme.size());
  return rest == whole.npos ? whole : "+ " + whole.substr(rest);
}

/// Makes the rows of the chart; the last point of each line also has the height of its label.
Json labelled_rows(const results::Results& results, const results::Task& task, const std::vector<LinePoint>& points,
                   const Frame& frame, double height, const Words& words) {
  Json rows = Json::array();
  std::vector<std::pair<double, std::size_t>> ends;  // pixel and row of each line's last point
  for (std::size_t i = 0; i < points.size(); ++i) {
    const LinePoint& point = points[i];
    const results::Line& line = results.line(point.line);
    const std::string label = shown_label(results, task, point.line, words);
    rows.push_back({{"line", label},
                    {"short", short_label(results, line, label)},
                    {"x", point.x},
                    {"mean", point.mean},
                    {"kind", line.tuned        ? "tuned"
                             : line.is_plain() ? "plain"
                                               : "stretched"}});
    if (point.low && point.high) {
      rows.back()["low"] = *point.low;
      rows.back()["high"] = *point.high;
    }
    const bool last = std::none_of(points.begin() + static_cast<std::ptrdiff_t>(i) + 1, points.end(),
                                   [&](const LinePoint& later) { return later.line == point.line; });
    if (last) ends.emplace_back(frame.pixel(point.mean), i);
  }
  std::stable_sort(ends.begin(), ends.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<double> wanted;
  for (const auto& end : ends) wanted.push_back(end.first);
  const std::vector<double> places = spread_out(wanted, label_height, height);
  for (std::size_t i = 0; i < ends.size(); ++i) rows[ends[i].second]["label_at"] = frame.value(places[i]);
  return rows;
}

/// Lines of one scheme share a colour; lines that did not learn are grey.
Json scheme_colour(const results::Results& results, const results::Task& task, const std::vector<LinePoint>& points,
                   const Words& words) {
  Json domain = Json::array(), range = Json::array();
  std::vector<std::string> schemes;
  for (const results::Line& line : results.lines) {
    if (std::find(schemes.begin(), schemes.end(), line.trained) == schemes.end()) schemes.push_back(line.trained);
    const bool drawn =
        std::any_of(points.begin(), points.end(), [&](const LinePoint& point) { return point.line == line.name; });
    if (!drawn) continue;
    const auto index =
        static_cast<std::size_t>(std::find(schemes.begin(), schemes.end(), line.trained) - schemes.begin());
    domain.push_back(shown_label(results, task, line.name, words));
    range.push_back(results.learned(task.name, line.name) ? line_colour(index) : not_learned_grey);
  }
  return {{"field", "line"},
          {"type", "nominal"},
          {"title", nullptr},
          {"scale", {{"domain", domain}, {"range", range}}},
          {"legend", nullptr}};
}

Json layers_of(const LineChart& chart, const Json& scale, const Json& colour, const Words& words) {
  const Json x = x_channel(chart);
  const Json y = {{"field", "mean"}, {"type", "quantitative"}, {"title", chart.y_title}, {"scale", scale}};
  Json label_y = y;
  label_y["field"] = "label_at";
  const Json dash = {
      {"field", "kind"},
      {"type", "nominal"},
      {"legend", nullptr},
      {"scale", {{"domain", {"plain", "stretched", "tuned"}}, {"range", Json::array({{1, 0}, {7, 3}, {2, 3}})}}}};
  const Json labelled = {{{"filter", "isValid(datum.label_at)"}}};
  Json layers = reference_layers(chart);
  layers.push_back(
      {{"mark", {{"type", "line"}, {"clip", true}, {"strokeWidth", 2}}},
       {"encoding", {{"x", x}, {"y", y}, {"color", colour}, {"detail", {{"field", "line"}}}, {"strokeDash", dash}}}});
  layers.push_back({{"mark", {{"type", "point"}, {"filled", true}, {"size", 30}, {"opacity", 1}}},
                    {"encoding", {{"x", x}, {"y", y}, {"color", colour}, {"tooltip", line_tooltip(chart, words)}}}});
  layers.push_back(
      {{"transform", labelled},
       {"mark", {{"type", "rule"}, {"xOffset", 5}, {"x2Offset", 18}, {"opacity", 0.5}}},
       {"encoding",
        {{"x", x}, {"x2", {{"field", "x"}}}, {"y", y}, {"y2", {{"field", "label_at"}}}, {"color", colour}}}});
  layers.push_back(
      {{"transform", labelled},
       {"mark", {{"type", "text"}, {"align", "left"}, {"baseline", "middle"}, {"dx", 21}, {"fontSize", 11.5}}},
       {"encoding", {{"x", x}, {"y", label_y}, {"text", {{"field", "line"}}}, {"color", colour}}}});
  return layers;
}

}  // namespace

std::vector<Figure> answer_figures(const results::Results& results, const Words& words) {
  const results::Task* task = results::opening_task(results);
  if (task == nullptr && !results.tasks.empty()) task = &results.tasks.front();
  if (task == nullptr) return {};
  const std::vector<LinePoint> points = length_points(results, *task, task->main);
  if (points.empty()) return {};
  LineChart chart = length_chart(results, *task, task->main, words);
  chart.chance = task->level();
  std::size_t lines = 0;
  for (const results::Line& line : results.lines) {
    const bool drawn =
        std::any_of(points.begin(), points.end(), [&](const LinePoint& point) { return point.line == line.name; });
    lines += drawn ? 1 : 0;
  }
  const double height = std::max(least_height, label_height * static_cast<double>(lines + 1));
  const Json scale = y_scale(chart, points);
  const Json rows = labelled_rows(results, *task, points, Frame(scale, height), height, words);
  std::string caption = words(Message::answer_caption);
  if (chart.chance) caption += " " + words(Message::answer_level, {{"level", significant(*chart.chance)}});
  return {{.name = "answer",
           .title = chart.title,
           .caption = caption,
           .spec = {{"$schema", "https://vega.github.io/schema/vega-lite/v5.json"},
                    {"width", "container"},
                    {"height", height},
                    {"usermeta", {{"short_labels", true}}},
                    {"data", {{"values", rows}}},
                    {"layer", layers_of(chart, scale, scheme_colour(results, *task, points, words), words)}}}};
}

}  // namespace locus::figures
