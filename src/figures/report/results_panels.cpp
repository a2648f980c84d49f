// SPDX-License-Identifier: Apache-2.0
// Charts of many small panels: main numbers, depth by length, time per step.
#include <algorithm>

#include "figures/report/html.h"
#include "figures/report/report_parts.h"
#include "figures/report/results_figures.h"
#include "locus/text.h"

namespace locus::figures {
namespace {

constexpr const char* schema = "https://vega.github.io/schema/vega-lite/v5.json";

std::string direction(const results::Task& task, const Words& words) {
  return words(task.higher_is_better ? Message::panel_higher : Message::panel_lower,
               {{"number", words.phrase(task.main)}});
}

/// Puts charts side by side, as many as fit; the page sets widths and columns. `margin` is the width of the labels.
Json side_by_side(Json charts, int margin) {
  return {{"$schema", schema},
          {"usermeta", {{"panel_margin", margin}}},
          {"columns", 2},
          {"spacing", 24},
          {"concat", std::move(charts)}};
}

Json panel(const std::string& title, Json rows) {
  return {{"title", title}, {"width", 270}, {"height", {{"step", 18}}}, {"data", {{"values", std::move(rows)}}}};
}

Json ordered_lines() {
  return {{"field", "line"},
          {"type", "nominal"},
          {"title", nullptr},
          {"sort", {{"field", "order"}, {"op", "min"}}},
          {"axis", {{"grid", true}, {"domain", false}, {"ticks", false}}}};
}

}  // namespace

std::vector<Figure> beyond_figures(const results::Results& results, const results::Ranking& answer,
                                   const Words& words) {
  const Json x = {{"field", "mean"}, {"type", "quantitative"}, {"title", nullptr}, {"scale", {{"zero", false}}}};
  Json from = x;
  from["field"] = "shown_low";
  const std::string leads = words(Message::panel_leads), behind = words(Message::panel_behind);
  const Json tooltip = {{{"field", "line"}, {"title", words(Message::chart_scheme)}},
                        {{"field", "mean"}, {"title", words(Message::chart_mean)}, {"format", ".4g"}},
                        {{"field", "low"}, {"title", words(Message::chart_interval_from)}, {"format", ".4g"}},
                        {{"field", "high"}, {"title", words(Message::chart_interval_to)}, {"format", ".4g"}},
                        {{"field", "group"}, {"title", words(Message::chart_group)}}};
  const Json colour = {{"field", "group"},
                       {"type", "nominal"},
                       {"title", nullptr},
                       {"scale", {{"domain", {leads, behind}}, {"range", {"#2a9d6f", "#8b929c"}}}},
                       {"legend", nullptr}};
  const Json layers = {
      {{"mark", {{"type", "rule"}, {"strokeWidth", 1.5}}},
       {"encoding", {{"y", ordered_lines()}, {"x", from}, {"x2", {{"field", "shown_high"}}}, {"color", colour}}}},
      {{"mark", {{"type", "point"}, {"filled", true}, {"size", 55}, {"opacity", 1}}},
       {"encoding", {{"y", ordered_lines()}, {"x", x}, {"color", colour}, {"tooltip", tooltip}}}}};
  Json charts = Json::array();
  bool cut = false;
  for (const results::TaskRanking& task : answer.tasks) {
    const std::vector<results::Standing>& all = task.all();
    Json rows = Json::array();
    for (std::size_t place = 0; place < all.size(); ++place) {
      const results::Estimate& score = all[place].score;
      Json row = {{"task", task.task->name},
                  {"line", results.label(all[place].line)},
                  {"order", place},
                  {"mean", score.mean},
                  {"group", all[place].leads ? leads : behind}};
      row["low"] = score.low.value_or(score.mean);
      row["high"] = score.high.value_or(score.mean);
      const results::Estimate drawn = results::shown(*task.task, score);
      row["shown_low"] = drawn.low.value_or(score.mean);
      row["shown_high"] = drawn.high.value_or(score.mean);
      cut = cut || results::is_cut(*task.task, score);
      rows.push_back(std::move(row));
    }
    if (rows.empty()) continue;
    charts.push_back(panel(task.task->title + " (" + direction(*task.task, words) + ")", std::move(rows)));
    charts.back()["layer"] = layers;
  }
  if (charts.empty()) return {};
  return {{.name = "beyond",
           .title = words(Message::beyond_title),
           .caption = words(Message::beyond_caption) + in_range_note(results, words) + cut_note(cut, words),
           .spec = side_by_side(std::move(charts), 210)}};
}

std::vector<Figure> grid_figures(const results::Results& results, const results::Task& task, const Words& words) {
  Json rows = Json::array();
  std::vector<std::string> order;
  for (const bool learned : {true, false}) {
    for (const results::Line& line : results.lines) {
      if (results.learned(task.name, line.name) != learned) continue;
      const std::string panel = learned ? line.label : words(Message::chart_not_learned, {{"line", line.label}});
      bool any = false;
      for (const results::Number& number : results.numbers) {
        if (number.task != task.name || number.line != line.name || number.name != task.main || number.place < 0 ||
            !number.estimate)
          continue;
        any = true;
        rows.push_back(
            {{"panel", panel}, {"length", number.length}, {"depth", number.place}, {"mean", number.estimate->mean}});
      }
      if (any) order.push_back(panel);
    }
  }
  if (rows.empty()) return {};
  const Json x = {
      {"field", "length"}, {"type", "ordinal"}, {"title", words(Message::grid_length)}, {"axis", {{"labelAngle", 0}}}};
  const Json y = {{"field", "depth"}, {"type", "ordinal"}, {"title", words(Message::grid_depth)}};
  const Json colour = {{"field", "mean"},
                       {"type", "quantitative"},
                       {"title", words.phrase(task.main)},
                       {"scale", {{"scheme", "viridis"}, {"domain", {0, 1}}}},
                       {"legend", {{"orient", "bottom"}, {"gradientLength", 160}, {"direction", "horizontal"}}}};
  const Json ink = {{"condition", {{"test", "datum.mean > 0.6"}, {"value", "#10131a"}}}, {"value", "#f4f6fa"}};
  const Json text = {{"field", "mean"}, {"type", "quantitative"}, {"format", ".2f"}};
  const Json inner = {
      {"width", 165},
      {"height", 130},
      {"layer",
       {{{"mark", {{"type", "rect"}, {"tooltip", true}}}, {"encoding", {{"x", x}, {"y", y}, {"color", colour}}}},
        {{"mark", {{"type", "text"}, {"fontSize", 10}}},
         {"encoding", {{"x", x}, {"y", y}, {"text", text}, {"color", ink}}}}}}};
  return {{.name = identifier(task.name + "-grid"),
           .title = words(Message::grid_title, {{"task", task.title}}),
           .caption = words(Message::grid_caption, {{"length", words.grouped(task.trained_length)}}),
           .spec = {{"$schema", schema},
                    {"data", {{"values", std::move(rows)}}},
                    {"usermeta", {{"panel_margin", 30}}},
                    {"columns", 4},
                    {"spacing", {{"row", 40}, {"column", 24}}},
                    {"bounds", "flush"},
                    {"facet",
                     {{"field", "panel"},
                      {"type", "nominal"},
                      {"title", nullptr},
                      {"sort", order},
                      {"header", {{"labelLimit", 180}}}}},
                    {"spec", inner}}}};
}

std::vector<Figure> cost_figures(const results::Results& results, const Words& words) {
  const Json x = {{"field", "milliseconds"}, {"type", "quantitative"}, {"title", words(Message::cost_axis)}};
  Json charts = Json::array();
  for (const results::Task& task : results.tasks) {
    std::vector<const results::Cost*> costs;
    for (const results::Cost& cost : results.costs) {
      if (cost.task == task.name && cost.seconds_per_step) costs.push_back(&cost);
    }
    if (costs.empty()) continue;
    std::stable_sort(costs.begin(), costs.end(), [](const results::Cost* a, const results::Cost* b) {
      return *a->seconds_per_step < *b->seconds_per_step;
    });
    Json rows = Json::array();
    for (std::size_t place = 0; place < costs.size(); ++place) {
      rows.push_back({{"task", task.name},
                      {"line", results.label(costs[place]->line)},
                      {"order", place},
                      {"milliseconds", *costs[place]->seconds_per_step * 1000}});
    }
    charts.push_back(panel(task.title, std::move(rows)));
    charts.back()["mark"] = {{"type", "bar"}, {"tooltip", true}, {"height", 9}};
    charts.back()["encoding"] = {{"y", ordered_lines()}, {"x", x}};
  }
  if (charts.empty()) return {};
  return {{.name = "cost",
           .title = words(Message::cost_title),
           .caption = words(Message::cost_caption),
           .spec = side_by_side(std::move(charts), 210)}};
}

}  // namespace locus::figures
