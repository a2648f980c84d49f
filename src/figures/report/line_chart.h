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
  std::vector<double> x_values;  ///< labels of the axis on a scale of powers of two; empty: an even scale
  bool is_share = false;         ///< y from 0 to 1
  std::optional<double> chance;  ///< a thin horizontal rule
  std::optional<double> mark_x;  ///< a vertical rule at the trained length
  std::string mark_label;
};

/// Parts of such a chart. The y scale comes from the means: an interval over few seeds may be so wide that it would hide
/// everything else. Error for no points.
Json y_scale(const LineChart& chart, const std::vector<LinePoint>& points);
Json x_channel(const LineChart& chart);
/// The level of chance and the trained length.
Json reference_layers(const LineChart& chart);
Json line_tooltip(const LineChart& chart, const Words& words);
/// The line's label, with a note where it did not learn the task.
std::string shown_label(const results::Results& results, const results::Task& task, const std::string& line,
                        const Words& words);
/// A colour per index, visible on light and dark pages; grey for lines that did not learn.
std::string line_colour(std::size_t index);
inline constexpr const char* not_learned_grey = "#8b929c";

/// Groups of lines that are drawn together: first all plain lines and those of schemes with few, then each scheme with
/// many. Names keep the order of the results.
std::vector<std::vector<std::string>> line_groups(const results::Results& results);

/// One figure per group that has points; all but the first have the scheme in their name, e.g. "-rope".
std::vector<Figure> line_figures(const results::Results& results, const results::Task& task, const LineChart& chart,
                                 const std::vector<LinePoint>& points, const Words& words);

}  // namespace locus::figures
