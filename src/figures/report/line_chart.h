// SPDX-License-Identifier: Apache-2.0
// Curves with 95 % bands, one per line; lines that did not learn the task are grey and dashed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figures/figure.h"
#include "messages/words.h"
#include "results/results.h"

namespace locus::figures {

struct LinePoint {
  std::string line;  ///< its name
  double x = 0;
  double mean = 0;
  std::optional<double> low, high;
};

struct LineChart {
  std::string name, title, caption;
  std::string x_title, y_title;
  std::vector<double> x_values;  ///< labels of an axis with a scale of powers of two; empty: a linear scale
  bool is_share = false;         ///< y from 0 to 1
  std::optional<double> chance;  ///< a thin horizontal rule
  std::optional<double> mark_x;  ///< a vertical rule at the trained length
  std::string mark_label;
};

/// Makes the layers of such a chart. The means set the y scale: an interval over few seeds can be so wide that nothing
/// else would be visible. Error: no points.
Json y_scale(const LineChart& chart, const std::vector<LinePoint>& points);
Json x_channel(const LineChart& chart);
/// Draws rules at the level of chance and at the trained length.
Json reference_layers(const LineChart& chart);
Json line_tooltip(const LineChart& chart, const Words& words);
/// Returns the line's label, with a note if it did not learn the task.
std::string shown_label(const results::Results& results, const results::Task& task, const std::string& line,
                        const Words& words);
/// Returns a colour per index, visible on light and dark pages; grey for lines that did not learn.
std::string line_colour(std::size_t index);
inline constexpr const char* not_learned_grey = "#8b929c";

/// Groups the lines that are drawn together: first all plain lines and those of schemes with few lines, then each
/// scheme with many. Names keep the order of the results.
std::vector<std::vector<std::string>> line_groups(const results::Results& results);

/// Draws one figure per group that has points; the names of all but the first end with the scheme, e.g. "-rope".
std::vector<Figure> line_figures(const results::Results& results, const results::Task& task, const LineChart& chart,
                                 const std::vector<LinePoint>& points, const Words& words);

}  // namespace locus::figures
