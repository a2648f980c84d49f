// SPDX-License-Identifier: Apache-2.0
// Horizontal bars, one per row of data: label, blocks, number. Bars of negative numbers point left.
#include <algorithm>
#include <cmath>

#include "figures/spec.h"
#include "figures/terminal/draw_parts.h"

namespace locus::figures {
namespace {

constexpr std::string_view eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

struct Bar {
  std::string label;
  double value;
  std::size_t colour;
};

/// Draws `columns` whole blocks, and the rest in eighths.
std::string blocks(double columns) {
  const auto parts = static_cast<std::size_t>(std::lround(columns * 8));
  std::string text;
  for (std::size_t i = 0; i < parts / 8; ++i) text += "█";
  return text + std::string(eighths[parts % 8]);
}

std::vector<Bar> bars_of(const Layer& layer, const Channel& label, const Channel& length) {
  const std::vector<std::string> series = layer.colour.present() && layer.colour.discrete
                                              ? labels_of(layer.colour, layer.rows)
                                              : std::vector<std::string>{};
  std::vector<Bar> bars;
  for (const std::string& name : labels_of(label, layer.rows)) {
    for (const Json* row : layer.rows) {
      const auto value = number_in(*row, length.field);
      if (!value || !row->contains(label.field) || label_of((*row)[label.field]) != name) continue;
      Bar bar{.label = name, .value = *value, .colour = 0};
      if (!series.empty() && row->contains(layer.colour.field)) {
        const std::string group = label_of((*row)[layer.colour.field]);
        if (layer.colour.field != label.field) bar.label += ", " + group;
        bar.colour = static_cast<std::size_t>(std::find(series.begin(), series.end(), group) - series.begin());
      }
      bars.push_back(std::move(bar));
    }
  }
  return bars;
}

}  // namespace

PanelText draw_bars(const Panel& panel, const DrawingOptions& options) {
  const auto found =
      std::find_if(panel.layers.begin(), panel.layers.end(), [](const Layer& layer) { return layer.mark == "bar"; });
  const Layer& layer = *found;
  const Channel& label = layer.x.discrete ? layer.x : layer.y;
  const Channel& length = layer.x.discrete ? layer.y : layer.x;
  const std::vector<Bar> bars = bars_of(layer, label, length);
  std::size_t label_width = 0, number_width = 0;
  double low = 0, high = 0;
  for (const Bar& bar : bars) {
    label_width = std::max(label_width, std::min(columns_of(bar.label), options.width / 2));
    number_width = std::max(number_width, columns_of(pretty(bar.value)));
    low = std::min(low, bar.value);
    high = std::max(high, bar.value);
  }
  const std::size_t taken = label_width + number_width + 3;
  const double room = static_cast<double>(options.width > taken + 8 ? options.width - taken : 8);
  const double unit = high > low ? room / (high - low) : 0;
  const auto left = static_cast<std::size_t>(std::ceil(-low * unit));
  std::string text = plain(length.title) + (label.title.empty() ? "" : ", by " + plain(label.title)) + "\n";
  for (const Bar& bar : bars) {
    text += left_padded(shortened(plain(bar.label), label_width), label_width) + " ";
    if (bar.value < 0) {  // whole blocks only: Unicode has no eighths from the right
      const auto size = static_cast<std::size_t>(std::lround(-bar.value * unit));
      text += std::string(left - std::min(left, size), ' ') +
              coloured(blocks(static_cast<double>(std::min(left, size))), bar.colour, options.colour) + "│ ";
    } else {
      text += std::string(left, ' ') + "│" + coloured(blocks(bar.value * unit), bar.colour, options.colour) + " ";
    }
    text += pretty(bar.value) + "\n";
  }
  return {.body = text};
}

}  // namespace locus::figures
