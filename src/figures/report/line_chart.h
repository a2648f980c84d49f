// SPDX-License-Identifier: Apache-2.0
// Lines with 95 % bands, one per scheme: what learned is coloured, what did not is grey and dashed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figures/figure.h"
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
  std::optional<double> chance;  ///< a thin level
  std::optional<double> mark_x;  ///< an upright, where training ended
  std::string mark_label;
};

/// Lines of one colour scheme: those of schemes that have few, and of each scheme with many by itself. In each group
/// the names are in the order of the results.
std::vector<std::vector<std::string>> line_groups(const results::Results& results);

/// One figure for every group with something to show; "-rope" and the like are put behind the name of all but the
/// first.
std::vector<Figure> line_figures(const results::Results& results, const results::Task& task, const LineChart& chart,
                                 const std::vector<LinePoint>& points);

}  // namespace locus::figures
