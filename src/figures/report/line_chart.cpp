// SPDX-License-Identifier: Apache-2.0
#include "figures/report/line_chart.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "figures/report/html.h"
#include "figures/spec.h"
#include "locus/error.h"

namespace locus::figures {
namespace {

// Middle tones, visible on light and dark pages.
constexpr const char* colours[] = {"#3b82c4", "#e08a1e", "#2a9d6f", "#d1495b", "#8f6bc9", "#9c6b3f",
                                   "#d26fb0", "#8a9a2b", "#2aa5b5", "#b58b00", "#6f7fd6", "#c96a3a"};

Json rows_of(const results::Results& results, const results::Task& task, const std::vector<LinePoint>& points,
             const Words& words) {
  Json rows = Json::array();
  for (const LinePoint& point : points) {
    Json row = {{"line", shown_label(results, task, point.line, words)},
                {"x", point.x},
                {"mean", point.mean},
                {"learned", results.learned(task.name, point.line)}};
    if (point.low && point.high) {
      row["low"] = *point.low;
      row["high"] = *point.high;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// A line has the same colour in every chart: the colour depends on its index in the whole group, drawn or not.
Json colour_channel(const results::Results& results, const results::Task& task, const std::vector<std::string>& group,
                    const std::vector<std::string>& drawn, const Words& words) {
  Json domain = Json::array(), range = Json::array();
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (std::find(drawn.begin(), drawn.end(), group[i]) == drawn.end()) continue;
    domain.push_back(shown_label(results, task, group[i], words));
    range.push_back(results.learned(task.name, group[i]) ? line_colour(i) : not_learned_grey);
  }
  return {
      {"field", "line"},
      {"type", "nominal"},
      {"title", nullptr},
      {"scale", {{"domain", domain}, {"range", range}}},
      {"legend", {{"orient", "bottom"}, {"symbolType", "stroke"}, {"symbolStrokeWidth", 2.5}, {"symbolOpacity", 1}}}};
}

Json spec_of(const LineChart& chart, Json rows, const Json& scale, const Json& colour, const Json& tooltip) {
  const bool has_bands = std::any_of(rows.begin(), rows.end(), [](const Json& row) { return row.contains("low"); });
  const Json x = x_channel(chart);
  const Json y = {{"field", "mean"}, {"type", "quantitative"}, {"title", chart.y_title}, {"scale", scale}};
  const Json faded = {{"condition", {{"param", "picked"}, {"value", 1}}}, {"value", 0.12}};
  Json layers = reference_layers(chart);
  if (has_bands) {
    const Json low = {{"field", "low"}, {"type", "quantitative"}, {"title", chart.y_title}, {"scale", scale}};
    const Json weak = {{"condition", {{"param", "picked"}, {"value", 0.13}}}, {"value", 0.02}};
    layers.push_back({{"mark", {{"type", "area"}, {"clip", true}}},
                      {"encoding",
                       {{"x", x},
                        {"y", low},
                        {"y2", {{"field", "high"}}},
                        {"color", colour},
                        {"detail", {{"field", "line"}}},
                        {"opacity", weak}}}});
  }
  const Json dash = {{"condition", {{"test", "datum.learned"}, {"value", {1, 0}}}}, {"value", {5, 4}}};
  layers.push_back(
      {{"params", {{{"name", "picked"}, {"select", {{"type", "point"}, {"fields", {"line"}}}}, {"bind", "legend"}}}},
       {"mark", {{"type", "line"}, {"clip", true}, {"strokeWidth", 2}}},
       {"encoding",
        {{"x", x},
         {"y", y},
         {"color", colour},
         {"detail", {{"field", "line"}}},
         {"strokeDash", dash},
         {"opacity", faded}}}});
  layers.push_back({{"mark", {{"type", "point"}, {"filled", true}, {"size", 34}}},
                    {"encoding", {{"x", x}, {"y", y}, {"color", colour}, {"opacity", faded}, {"tooltip", tooltip}}}});
  return {{"$schema", "https://vega.github.io/schema/vega-lite/v5.json"},
          {"width", "container"},
          {"height", 320},
          {"data", {{"values", std::move(rows)}}},
          {"layer", std::move(layers)}};
}

}  // namespace

std::string shown_label(const results::Results& results, const results::Task& task, const std::string& line,
                        const Words& words) {
  const std::string label = results.label(line);
  return results.learned(task.name, line) ? label : words(Message::chart_not_learned, {{"line", label}});
}

std::string line_colour(std::size_t index) { return colours[index % std::size(colours)]; }

Json y_scale(const LineChart& chart, const std::vector<LinePoint>& points) {
  if (chart.is_share) return {{"domain", {0, 1}}};
  require(!points.empty(), "a line chart needs points");
  double low = points.front().mean, high = low;
  for (const LinePoint& point : points) {
    low = std::min(low, point.mean);
    high = std::max(high, point.mean);
  }
  if (low > 0 && high > 3 * low) return {{"type", "log"}, {"domain", {low * 0.85, high * 1.15}}, {"nice", false}};
  const double room = std::max((high - low) * 0.12, 1e-9);
  return {{"domain", {low - room, high + room}}, {"nice", false}, {"zero", false}};
}

Json x_channel(const LineChart& chart) {
  Json x = {{"field", "x"}, {"type", "quantitative"}, {"title", chart.x_title}};
  if (chart.x_values.empty()) {
    x["scale"] = {{"zero", false}, {"nice", false}, {"padding", 10}};
    x["axis"] = {{"tickCount", 8}, {"format", ",d"}};
  } else {
    x["scale"] = {{"type", "log"}, {"base", 2}, {"nice", false}, {"padding", 10}};
    x["axis"] = {{"values", chart.x_values}, {"format", ",d"}, {"grid", true}};
  }
  return x;
}

Json reference_layers(const LineChart& chart) {
  Json layers = Json::array();
  if (chart.chance) {
    layers.push_back({{"data", {{"values", {{{"at", *chart.chance}}}}}},
                      {"mark", {{"type", "rule"}, {"strokeDash", {2, 3}}, {"opacity", 0.7}, {"clip", true}}},
                      {"encoding", {{"y", {{"field", "at"}, {"type", "quantitative"}}}}}});
  }
  if (chart.mark_x) {
    const Json data = {{"values", {{{"at", *chart.mark_x}, {"text", chart.mark_label}}}}};
    const Json x = {{"field", "at"}, {"type", "quantitative"}};
    layers.push_back({{"data", data}, {"mark", {{"type", "rule"}, {"strokeDash", {4, 4}}}}, {"encoding", {{"x", x}}}});
    layers.push_back(
        {{"data", data},
         {"mark", {{"type", "text"}, {"align", "left"}, {"dx", -4}, {"baseline", "bottom"}, {"fontSize", 10.5}}},
         {"encoding", {{"x", x}, {"y", {{"value", -5}}}, {"text", {{"field", "text"}}}}}});
  }
  return layers;
}

Json line_tooltip(const LineChart& chart, const Words& words) {
  Json channels = Json::array();
  channels.push_back({{"field", "line"}, {"title", words(Message::chart_scheme)}});
  channels.push_back({{"field", "x"}, {"title", chart.x_title}, {"format", ","}});
  channels.push_back({{"field", "mean"}, {"title", chart.y_title}, {"format", ".4g"}});
  channels.push_back({{"field", "low"}, {"title", words(Message::chart_interval_from)}, {"format", ".4g"}});
  channels.push_back({{"field", "high"}, {"title", words(Message::chart_interval_to)}, {"format", ".4g"}});
  return channels;
}

std::vector<std::vector<std::string>> line_groups(const results::Results& results) {
  std::map<std::string, std::vector<std::string>> by_scheme;
  for (const results::Line& line : results.lines) by_scheme[line.trained].push_back(line.name);
  std::vector<std::vector<std::string>> groups(1);
  for (const results::Line& line : results.lines) {
    const std::vector<std::string>& family = by_scheme[line.trained];
    const bool many = family.size() > 2;
    if (!many || line.is_plain()) groups.front().push_back(line.name);
    if (many && family.front() == line.name) groups.push_back(family);
  }
  return groups;
}

std::vector<Figure> line_figures(const results::Results& results, const results::Task& task, const LineChart& chart,
                                 const std::vector<LinePoint>& points, const Words& words) {
  std::vector<Figure> figures;
  const auto groups = line_groups(results);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::vector<std::string>& group = groups[g];
    std::vector<LinePoint> own;
    std::vector<std::string> drawn, not_learned;
    for (const std::string& line : group) {
      const std::size_t before = own.size();
      std::copy_if(points.begin(), points.end(), std::back_inserter(own),
                   [&](const LinePoint& point) { return point.line == line; });
      if (own.size() == before) continue;
      drawn.push_back(line);
      if (!results.learned(task.name, line)) not_learned.push_back(results.label(line));
    }
    if (drawn.size() < (g == 0 ? 1u : 2u)) continue;  // a scheme's only line is in the first chart
    Figure figure{.name = chart.name, .title = chart.title, .caption = chart.caption, .spec = {}};
    if (g > 0) {
      const results::Line& first = results.line(group.front());
      figure.name += "-" + identifier(first.trained);
      figure.title = words(Message::chart_variants, {{"title", chart.title}, {"scheme", results.label(first.trained)}});
    }
    if (!not_learned.empty()) {
      figure.caption += " " + words(Message::chart_grey_lines, {{"lines", words.all_of(not_learned)}});
    }
    const Json scale = y_scale(chart, own);
    const double bottom = scale["domain"][0], top = scale["domain"][1];
    const bool cut = std::any_of(own.begin(), own.end(), [&](const LinePoint& point) {
      return (point.low && *point.low < bottom) || (point.high && *point.high > top);
    });
    if (cut) figure.caption += " " + words(Message::chart_bands_cut);
    figure.spec = spec_of(chart, rows_of(results, task, own, words), scale,
                          colour_channel(results, task, group, drawn, words), line_tooltip(chart, words));
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace locus::figures
