// SPDX-License-Identifier: Apache-2.0
// Splits a Vega-Lite spec for drawing: panels (facets, concatenations) of layers, each with its rows and channels.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "figures/figure.h"

namespace locus::figures {

/// The x, y, colour ... of a layer.
struct Channel {
  std::string field;  ///< empty: the layer has no such channel
  std::string title;
  bool discrete = false;  ///< ordinal and nominal: one place per value
  bool logarithmic = false;
  double log_base = 10;
  bool descending = false;
  std::optional<std::pair<double, double>> domain = {};  ///< of numbers
  std::vector<std::string> names = {};                   ///< domain of a discrete channel, if the spec gives it
  std::vector<std::string> labelled = {};                ///< values whose labels the axis shows; empty: all
  std::string format = {};                               ///< of numbers in text, in d3's notation: .2f

  bool present() const { return !field.empty(); }
};

struct Layer {
  std::string mark;
  Channel x, y, x2, colour, text;
  std::vector<const Json*> rows;  ///< pointers into the spec
};

struct Panel {
  std::string title;
  std::vector<Layer> layers;
};

/// Returns the panels in reading order. The spec must outlive them.
std::vector<Panel> panels_of(const Json& spec);

/// Formats a value of a row as a label: `3`, `0.25`, `none`.
std::string label_of(const Json& value);

/// Returns the values of a channel over these rows as labels, in the order of the axis: numbers ascending, names in the
/// order of the spec or the data.
std::vector<std::string> labels_of(const Channel& channel, const std::vector<const Json*>& rows);

/// Returns the row's number in a field; absent if there is none (null marks a gap).
std::optional<double> number_in(const Json& row, const std::string& field);

}  // namespace locus::figures
