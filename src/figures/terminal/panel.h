// SPDX-License-Identifier: Apache-2.0
// A Vega-Lite spec taken apart for drawing: panels (facets, concatenations) of layers, each with its rows and channels.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "figures/figure.h"

namespace locus::figures {

/// x, y, colour ... of a layer.
struct Channel {
  std::string field;  ///< empty: the layer has no such channel
  std::string title;
  bool discrete = false;  ///< ordinal and nominal: one place per value
  bool logarithmic = false;
  double log_base = 10;
  bool descending = false;
  std::optional<std::pair<double, double>> domain = {};  ///< of numbers
  std::vector<std::string> names = {};                   ///< domain of a discrete channel, where the spec says it
  std::vector<std::string> labelled = {};                ///< values whose labels the axis shows; empty: all
  std::string format = {};                               ///< of a text's numbers, as d3 writes it: .2f

  bool present() const { return !field.empty(); }
};

struct Layer {
  std::string mark;
  Channel x, y, x2, colour, text;
  std::vector<const Json*> rows;  ///< into the spec
};

struct Panel {
  std::string title;
  std::vector<Layer> layers;
};

/// The panels in reading order. The spec must outlive them.
std::vector<Panel> panels_of(const Json& spec);

/// `3`, `0.25`, `none`: a value of a row as a label.
std::string label_of(const Json& value);

/// The values of a channel over these rows as labels, in the order of the axis: numbers rising, names as the spec or
/// the data have them.
std::vector<std::string> labels_of(const Channel& channel, const std::vector<const Json*>& rows);

/// The row's number in a field; absent where there is none (null marks a gap).
std::optional<double> number_in(const Json& row, const std::string& field);

}  // namespace locus::figures
