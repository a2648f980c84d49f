// SPDX-License-Identifier: Apache-2.0
// The functions that draw a panel, and the axes that they share.
#pragma once

#include <string>
#include <vector>

#include "figures/terminal/canvas.h"
#include "figures/terminal/drawing.h"
#include "figures/terminal/panel.h"

namespace locus::figures {

/// A panel, and the text that panels share.
struct PanelText {
  std::string body;
  std::string legend = {};
};

PanelText draw_heatmap(const Panel& panel, const DrawingOptions& options);
PanelText draw_curves(const Panel& panel, const DrawingOptions& options);
PanelText draw_bars(const Panel& panel, const DrawingOptions& options);
/// Only if `has_ranges`: draws points by name, each with a rule from x to x2.
PanelText draw_ranges(const Panel& panel, const DrawingOptions& options);
bool has_ranges(const Panel& panel);

/// A label at a column or row of the canvas.
struct Tick {
  std::size_t at = 0;
  std::string label;
};

/// Frames the canvas with its axes: y's title above, labels on the left, x's labels and title below.
std::string framed(const Canvas& canvas, const std::vector<Tick>& x, const std::string& x_title,
                   const std::vector<Tick>& y, const std::string& y_title, const DrawingOptions& options);

/// Returns the columns that the labels of the y axis and its line need.
std::size_t margin_of(const std::vector<Tick>& y);

}  // namespace locus::figures
