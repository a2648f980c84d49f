// SPDX-License-Identifier: Apache-2.0
#include "probe/measure/loss_report.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "locus/error.h"

namespace locus::probe {
namespace {

struct Moments {
  double mean = 0, standard_error = 0;
};

Moments moments(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, values.size() > 1 ? std::sqrt(squares / (n - 1) / n) : 0.0};
}

std::string rounded(double value, int digits) {
  std::ostringstream text;
  text.precision(digits);
  text << value;
  return text.str();
}

}  // namespace

std::vector<LossBucket> bucketed(std::span<const double> losses, std::span<const std::int64_t> edges) {
  require(edges.size() >= 2 && edges[0] >= 0, "buckets must have at least two edges, from 0 upwards");
  std::vector<LossBucket> buckets;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    require(edges[i] < edges[i + 1], "edges of buckets must rise, ", edges[i + 1], " comes after ", edges[i]);
    const std::int64_t end = std::min(edges[i + 1], std::ssize(losses));
    if (edges[i] >= end) continue;
    const Moments m =
        moments(losses.subspan(static_cast<std::size_t>(edges[i]), static_cast<std::size_t>(end - edges[i])));
    buckets.push_back({edges[i], end, end - edges[i], m.mean, m.standard_error});
  }
  return buckets;
}

std::vector<std::int64_t> default_edges(std::int64_t trained_length) {
  std::vector<std::int64_t> edges = {0};
  if (trained_length >= 2) edges.push_back(trained_length / 2);
  for (const std::int64_t times : {1, 2, 4, 8}) edges.push_back(times * trained_length);
  return edges;
}

BreakRule default_break_rule(std::int64_t trained_length) {
  return {.block = std::max<std::int64_t>(32, trained_length / 4)};
}

std::string describe(const BreakRule& rule) {
  return "a rule breaks at the first block of " + std::to_string(rule.block) +
         " positions that is worse than the sliding window on the same tokens by more than " + rounded(rule.excess, 3) +
         " nats and by more than " + rounded(rule.standard_errors, 3) +
         " standard errors of the difference, if the next block is also worse by more than " + rounded(rule.excess, 3) +
         " nats";
}

Breaking find_break(std::span<const double> losses, std::span<const double> baseline, const BreakRule& rule) {
  const std::size_t count = std::min(losses.size(), baseline.size());
  std::vector<double> excess;
  for (std::size_t i = 0; i < count; ++i) excess.push_back(losses[i] - baseline[i]);
  const auto block = static_cast<std::size_t>(rule.block);
  const auto judged = [&](std::size_t begin) {
    return moments(std::span(excess).subspan(begin, std::min(block, count - begin)));
  };
  for (std::size_t begin = 0; begin < count; begin += block) {
    const Moments m = judged(begin);
    const bool clear = m.mean > rule.excess && m.mean > rule.standard_errors * m.standard_error;
    const bool goes_on = begin + block >= count || judged(begin + block).mean > rule.excess;
    if (clear && goes_on) return {static_cast<std::int64_t>(begin), moments(std::span(excess).subspan(begin)).mean};
  }
  return {};
}

std::string describe(const Breaking& breaking, std::int64_t measured, std::int64_t trained_length) {
  if (!breaking.position) {
    return measured <= trained_length ? "holds as far as measured, which is not beyond the trained length"
                                      : "holds up to position " + std::to_string(measured - 1) + ", the last measured";
  }
  const std::string above = rounded(breaking.excess, 3) + " nats above the sliding window";
  if (*breaking.position == 0) return "is worse from position 0: " + above;
  const double times = static_cast<double>(*breaking.position) / static_cast<double>(trained_length);
  return "breaks at about position " + std::to_string(*breaking.position) + " (" + rounded(times, 3) +
         " x the trained length), from there on " + above;
}

figures::Figure loss_figure(const std::string& model, std::span<const LossCurve> curves, std::int64_t trained_length,
                            std::int64_t points) {
  using figures::Json;
  std::int64_t longest = 0;
  for (const LossCurve& curve : curves) longest = std::max(longest, std::ssize(curve.losses));
  require(longest > 0 && points > 0, "a chart needs at least one loss");
  const std::int64_t step = (longest + points - 1) / points;
  Json rows = Json::array(), names = Json::array();
  for (const LossCurve& curve : curves) {
    names.push_back(curve.name);
    std::vector<std::int64_t> edges;
    for (std::int64_t edge = 0; edge < longest + step; edge += step) edges.push_back(edge);
    for (const LossBucket& bucket : bucketed(curve.losses, edges)) {
      rows.push_back({{"position", bucket.begin + bucket.count / 2},
                      {"curve", curve.name},
                      {"loss", std::stod(rounded(bucket.mean, 6))},
                      {"kind", curve.baseline ? "baseline" : "rule"}});
    }
  }
  const Json x = {{"field", "position"}, {"type", "quantitative"}, {"title", "position in the sequence"}};
  const Json y = {
      {"field", "loss"}, {"type", "quantitative"}, {"title", "next-token loss, nats"}, {"scale", {{"zero", false}}}};
  Json lines = {{"mark", {{"type", "line"}, {"tooltip", true}}}, {"data", {{"values", rows}}}};
  lines["encoding"] = {
      {"x", x},
      {"y", y},
      {"color", {{"field", "curve"}, {"type", "nominal"}, {"title", "rule"}, {"scale", {{"domain", names}}}}},
      {"strokeDash", {{"field", "kind"}, {"type", "nominal"}, {"title", "kind"}}}};
  const Json trained = {{"mark", {{"type", "rule"}, {"strokeDash", {2, 2}}}},
                        {"data", {{"values", Json::array({{{"position", trained_length}}})}}},
                        {"encoding", {{"x", x}}}};
  return {.name = "loss-by-position",
          .title = "Next-token loss by position: " + model,
          .caption = "Each curve is the mean loss of a rule over " + std::to_string(step) +
                     " positions of one sequence; the dashed vertical line is the trained length (" +
                     std::to_string(trained_length) + "). A curve that rises above the baselines has broken.",
          .spec = {{"$schema", "https://vega.github.io/schema/vega-lite/v5.json"},
                   {"width", "container"},
                   {"height", 320},
                   {"layer", Json::array({lines, trained})}}};
}

}  // namespace locus::probe
