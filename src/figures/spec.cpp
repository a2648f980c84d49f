// SPDX-License-Identifier: Apache-2.0
#include "figures/spec.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "locus/error.h"
#include "locus/text.h"

namespace locus::figures {
namespace {

// Okabe and Ito's colours (jfly.uni-koeln.de/color), without black and yellow, which are invisible on dark or light
// pages.
constexpr const char* category_colours[] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                            "#56B4E9", "#D55E00", "#8C8C8C"};

Json channel(std::string_view field, std::string_view type, std::string_view title) {
  return {{"field", field}, {"type", type}, {"title", title}};
}

/// Returns the smallest of 1, 2, 5, 10, 20, 50, ... that divides `span` into at most `most` steps.
std::int64_t round_step(std::int64_t span, std::int64_t most) {
  for (std::int64_t power = 1;; power *= 10) {
    for (const std::int64_t digit : {1, 2, 5}) {
      if (span / (digit * power) <= most) return digit * power;
    }
  }
}

}  // namespace

double rounded(double value) {
  require(std::isfinite(value), "a figure's numbers must be finite, got ", value);
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  const double kept = std::strtod(text, nullptr);
  return kept == 0 ? 0.0 : kept;  // no -0
}

Json chart(Json rows) {
  require(rows.size() <= most_rows, "a figure must hold at most ", most_rows, " rows, got ", rows.size());
  return {{"$schema", "https://vega.github.io/schema/vega-lite/v5.json"},
          {"data", {{"values", std::move(rows)}}},
          {"width", "container"}};
}

Json quantitative(std::string_view field, std::string_view title) { return channel(field, "quantitative", title); }
Json snug(std::string_view field, std::string_view title) {
  Json result = quantitative(field, title);
  result["scale"] = {{"nice", false}};
  return result;
}
Json nominal(std::string_view field, std::string_view title) { return channel(field, "nominal", title); }

Json bands(std::string_view field, std::string_view title, std::span<const std::int64_t> values) {
  Json result = channel(field, "ordinal", title);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const std::int64_t step = values.empty() ? 1 : round_step(*high - *low, 10);
  Json labels = Json::array();
  for (const std::int64_t value : values) {
    if (value % step == 0) labels.push_back(value);
  }
  result["axis"] = {{"labelAngle", 0}, {"values", labels}};
  return result;
}

Json logarithmic(Json channel, int base) {
  channel["scale"]["type"] = "log";
  if (base != 10) channel["scale"]["base"] = base;
  return channel;
}

Json category_colour(std::string_view field, std::string_view title, const std::vector<std::string>& names) {
  Json result = nominal(field, title);
  Json range = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) range.push_back(category_colours[i % std::size(category_colours)]);
  result["scale"] = {{"domain", names}, {"range", range}};
  result["legend"] = {{"orient", "top"}};  // beside the chart, it would fill the screen of a phone
  return result;
}

Json value_colour(std::string_view field, std::string_view title, double low, double high) {
  Json result = quantitative(field, title);
  result["legend"] = {{"orient", "top"}};
  if (low < 0 && high > 0) {
    const double reach = std::max(-low, high);
    result["scale"] = {{"scheme", "blueorange"}, {"domain", {-reach, reach}}};
  } else {
    result["scale"] = {{"scheme", "viridis"}, {"domain", {low, high}}};
  }
  return result;
}

Thinned thinned(std::span<const Position> values, std::size_t most, Message note, const Words& words) {
  require(most > 0, "a figure must draw at least one of its values");
  const std::size_t step = (values.size() + most - 1) / most;
  Thinned result;
  for (std::size_t i = 0; i < values.size(); i += std::max<std::size_t>(step, 1)) result.values.push_back(values[i]);
  if (step > 1) result.note = words(note, {{"step", std::to_string(step)}});
  return result;
}

std::vector<Position> range(Position first, Position last) {
  std::vector<Position> values;
  for (Position value = first; value <= last; ++value) values.push_back(value);
  return values;
}

std::vector<std::int64_t> spread(std::int64_t count, std::int64_t most) {
  if (count <= most) return range(0, count - 1);
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < most; ++i) values.push_back(i * (count - 1) / (most - 1));
  return values;
}

std::string pretty(double value) {
  if (std::fabs(value) >= 1e15) return significant(value);
  const bool whole = value == std::floor(value) || std::fabs(value) >= 1000;
  return whole ? grouped(std::llround(value)) : significant(value);
}

Json faceted(Json spec, Json facet, int columns, Json inner) {
  spec.erase("width");  // each panel has its own
  spec["facet"] = std::move(facet);
  spec["columns"] = columns;
  spec["spec"] = std::move(inner);
  return spec;
}

}  // namespace locus::figures
