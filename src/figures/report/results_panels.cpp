// SPDX-License-Identifier: Apache-2.0
// Charts of many small panels: the answer at a glance, depth by length, time per step.
#include <algorithm>

#include "figures/numbers.h"
#include "figures/report/html.h"
#include "figures/report/results_figures.h"

namespace locus::figures {
namespace {

constexpr const char* schema = "https://vega.github.io/schema/vega-lite/v5.json";

std::string direction(const ResultTask& task) {
  return task.main + ", " + (task.higher_is_better ? "higher" : "lower") + " is better";
}

/// Charts side by side, as many as fit: the page gives them widths and columns. `margin` is what labels take of each.
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

std::vector<Figure> beyond_figures(const Results& results, const Answer& answer) {
  const Json x = {{"field", "mean"}, {"type", "quantitative"}, {"title", nullptr}, {"scale", {{"zero", false}}}};
  Json from = x;
  from["field"] = "shown_low";
  const Json tooltip = {{{"field", "line"}, {"title", "scheme"}},
                        {{"field", "mean"}, {"format", ".4g"}},
                        {{"field", "low"}, {"title", "95 % from"}, {"format", ".4g"}},
                        {{"field", "high"}, {"title", "to"}, {"format", ".4g"}},
                        {{"field", "group"}}};
  const Json colour = {{"field", "group"},
                       {"type", "nominal"},
                       {"title", nullptr},
                       {"scale", {{"domain", {"leads", "behind"}}, {"range", {"#2a9d6f", "#8b929c"}}}},
                       {"legend", nullptr}};
  const Json layers = {
      {{"mark", {{"type", "rule"}, {"strokeWidth", 1.5}}},
       {"encoding", {{"y", ordered_lines()}, {"x", from}, {"x2", {{"field", "shown_high"}}}, {"color", colour}}}},
      {{"mark", {{"type", "point"}, {"filled", true}, {"size", 55}, {"opacity", 1}}},
       {"encoding", {{"y", ordered_lines()}, {"x", x}, {"color", colour}, {"tooltip", tooltip}}}}};
  Json charts = Json::array();
  bool cut = false;
  for (const TaskAnswer& task : answer.tasks) {
    const std::vector<Standing>& all = task.after_tuning.empty() ? task.beyond : task.after_tuning;
    Json rows = Json::array();
    for (std::size_t place = 0; place < all.size(); ++place) {
      const Mean& mean = all[place].mean;
      Json row = {{"task", task.task->name},
                  {"line", results.label(all[place].line)},
                  {"order", place},
                  {"mean", mean.value},
                  {"group", all[place].leads ? "leads" : "behind"}};
      row["low"] = mean.low.value_or(mean.value);
      row["high"] = mean.high.value_or(mean.value);
      const Mean drawn = shown(*task.task, mean);
      row["shown_low"] = drawn.low.value_or(mean.value);
      row["shown_high"] = drawn.high.value_or(mean.value);
      cut = cut || is_cut(*task.task, mean);
      rows.push_back(std::move(row));
    }
    if (rows.empty()) continue;
    charts.push_back(panel(task.task->title + " (" + direction(*task.task) + ")", std::move(rows)));
    charts.back()["layer"] = layers;
  }
  if (charts.empty()) return {};
  const std::string caption =
      "Each scheme's main number, averaged over all lengths above the one trained at, with the 95 % interval over "
      "seeds. The best leads, and so does what cannot be told from it (green on a page). Schemes that did not learn a "
      "task are not in its panel.";
  return {{.name = "beyond",
           .title = "Beyond the training length",
           .caption = caption + (cut ? cut_words : ""),
           .spec = side_by_side(std::move(charts), 210)}};
}

std::vector<Figure> grid_figures(const Results& results, const ResultTask& task) {
  Json rows = Json::array();
  std::vector<std::string> order;
  for (const bool learned : {true, false}) {
    for (const ResultLine& line : results.lines) {
      if (results.learned(task.name, line.name) != learned) continue;
      const std::string panel = line.label + (learned ? "" : " (not learned)");
      bool any = false;
      for (const ResultNumber& number : results.numbers) {
        if (number.task != task.name || number.line != line.name || number.name != task.main || number.place < 0)
          continue;
        any = true;
        rows.push_back({{"panel", panel}, {"length", number.length}, {"depth", number.place}, {"mean", number.mean}});
      }
      if (any) order.push_back(panel);
    }
  }
  if (rows.empty()) return {};
  const Json x = {{"field", "length"}, {"type", "ordinal"}, {"title", "length"}, {"axis", {{"labelAngle", 0}}}};
  const Json y = {{"field", "depth"}, {"type", "ordinal"}, {"title", "depth, %"}};
  const Json colour = {{"field", "mean"},
                       {"type", "quantitative"},
                       {"title", task.main},
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
           .title = task.title + ": depth by length",
           .caption = "Across: the length of the sequence, trained at " + grouped(task.train_length) +
                      ". Down: how deep in it the asked-for thing lies, in percent. " +
                      "Numbers are means of the main "
                      "number over the seeds.",
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

std::vector<Figure> cost_figures(const Results& results) {
  const Json x = {{"field", "milliseconds"}, {"type", "quantitative"}, {"title", "milliseconds per training step"}};
  Json charts = Json::array();
  for (const ResultTask& task : results.tasks) {
    std::vector<const ResultCost*> costs;
    for (const ResultCost& cost : results.costs) {
      if (cost.task == task.name && cost.seconds_per_step) costs.push_back(&cost);
    }
    if (costs.empty()) continue;
    std::stable_sort(costs.begin(), costs.end(), [](const ResultCost* a, const ResultCost* b) {
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
           .title = "What a training step costs",
           .caption = "Time of one optimiser step on one thread, quickest on top. Other work on the machine moves it.",
           .spec = side_by_side(std::move(charts), 210)}};
}

}  // namespace locus::figures
