// SPDX-License-Identifier: Apache-2.0
// Draws rects as five shades from the lowest value to the highest; in colour, the hue is the sign and the shade the
// size. Writes the numbers that the chart writes into its rects, if they fit.
#include <algorithm>
#include <cmath>
#include <map>

#include "figures/spec.h"
#include "figures/terminal/draw_parts.h"
#include "locus/text.h"

namespace locus::figures {
namespace {

constexpr std::string_view shades[] = {" ", "░", "▒", "▓", "█"};
constexpr int last_shade = 4;
constexpr std::string_view no_value = "·";
constexpr std::size_t no_colour = 6;  // grey
constexpr std::size_t most_lines = 32;

using Index = std::map<std::string, std::size_t>;

/// Keeps every `step`-th label, so that they fit.
struct Places {
  std::vector<std::string> labels;
  std::size_t step = 1;
  Index index;  ///< of those that are drawn
};

Places places_of(const Channel& channel, const std::vector<const Json*>& rows, std::size_t room) {
  Places places{.labels = labels_of(channel, rows), .step = 1, .index = {}};
  places.step = std::max<std::size_t>((places.labels.size() + room - 1) / room, 1);
  for (std::size_t i = 0; i < places.labels.size(); i += places.step) places.index[places.labels[i]] = i / places.step;
  return places;
}

std::vector<Tick> ticks_of(const Places& places, const Channel& channel, std::size_t cell) {
  std::vector<Tick> ticks;
  for (std::size_t i = 0; i < places.labels.size(); i += places.step) {
    const std::string& label = places.labels[i];
    const auto& shown = channel.labelled;
    if (shown.empty() || std::find(shown.begin(), shown.end(), label) != shown.end()) {
      ticks.push_back({i / places.step * cell + (cell > 2 ? cell / 2 : 0), label});
    }
  }
  return ticks;
}

struct Shading {
  double low = 0, high = 0;
  bool by_size = false;  ///< the shade is |value|, the colour its sign

  int shade(double value) const {
    const double reach = std::max(std::fabs(low), std::fabs(high));
    const double part =
        by_size ? std::fabs(value) / (reach == 0 ? 1 : reach) : (high == low ? 1.0 : (value - low) / (high - low));
    return std::clamp(static_cast<int>(std::lround(part * last_shade)), 0, last_shade);
  }
  std::size_t colour(double value) const { return by_size && value > 0 ? 1 : 0; }

  std::vector<std::string> legend(const std::string& title, bool colours) const {
    std::vector<std::string> entries = {plain(title) + ":"};
    const double reach = std::max(std::fabs(low), std::fabs(high));
    for (int i = 0; i <= last_shade; ++i) {
      const double value = by_size ? reach * i / last_shade : low + (high - low) * i / last_shade;
      entries.push_back("[" + std::string(shades[i]) + "] " + pretty(rounded(value)));
    }
    if (by_size) {
      entries.push_back(coloured("below 0", 0, colours));
      entries.push_back(coloured("above 0", 1, colours));
    }
    return entries;
  }
};

Shading shading_of(const Layer& layer, bool colours) {
  Shading shading;
  if (layer.colour.domain) {
    shading.low = layer.colour.domain->first;
    shading.high = layer.colour.domain->second;
  } else {
    bool first = true;
    for (const Json* row : layer.rows) {
      const auto value = number_in(*row, layer.colour.field);
      if (!value) continue;
      shading.low = first ? *value : std::min(shading.low, *value);
      shading.high = first ? *value : std::max(shading.high, *value);
      first = false;
    }
  }
  shading.by_size = colours && shading.low < 0 && shading.high > 0;
  return shading;
}

/// The numbers that the chart writes: their layer, their format and the width of the widest.
struct Numbers {
  const Layer* layer = nullptr;
  std::size_t width = 0;

  std::string written(const Json& row) const {
    const auto value = number_in(row, layer->text.field);
    const std::string& format = layer->text.format;  // .2f, or else the usual format of numbers
    const bool decimals = format.size() == 3 && format[0] == '.' && format[2] == 'f';
    return !value ? "" : decimals ? fixed(*value, format[1] - '0') : pretty(*value);
  }
};

Numbers numbers_of(const Panel& panel, const Layer& rects) {
  Numbers numbers;
  for (const Layer& layer : panel.layers) {
    const bool same = layer.x.field == rects.x.field && layer.y.field == rects.y.field;
    if (layer.mark == "text" && layer.text.present() && same) numbers.layer = &layer;
  }
  if (numbers.layer == nullptr) return numbers;
  for (const Json* row : numbers.layer->rows) numbers.width = std::max(numbers.width, numbers.written(*row).size());
  return numbers;
}

std::string left_out(const Places& places, const std::string& title, std::size_t width) {
  if (places.step == 1) return "";
  return wrapped("1 " + plain(title) + " in " + std::to_string(places.step) + " is drawn.", width);
}

}  // namespace

PanelText draw_heatmap(const Panel& panel, const DrawingOptions& options) {
  const auto found =
      std::find_if(panel.layers.begin(), panel.layers.end(), [](const Layer& layer) { return layer.mark == "rect"; });
  const Layer& layer = *found;
  const Places down = places_of(layer.y, layer.rows, most_lines);
  const std::vector<Tick> y_ticks = ticks_of(down, layer.y, 1);
  const std::size_t room = options.width - margin_of(y_ticks);
  const Places across = places_of(layer.x, layer.rows, room);
  // Characters are about twice as high as wide: two make a square, if there is room. A number follows its shade, with a
  // blank after it.
  const Numbers numbers = numbers_of(panel, layer);
  const bool numbered = numbers.width > 0 && (numbers.width + 2) * across.index.size() <= room;
  const std::size_t cell = numbered ? numbers.width + 2 : 2 * across.index.size() <= room ? 2 : 1;
  Canvas canvas(across.index.size() * cell, down.index.size());
  const Shading shading = shading_of(layer, options.colour);
  std::size_t filled = 0;
  for (std::size_t i = 0; i < canvas.width() * canvas.height(); ++i) {
    canvas.put(i % canvas.width(), i / canvas.width(), no_value, no_colour);
  }
  for (const Json* row : layer.rows) {
    const auto value = number_in(*row, layer.colour.field);
    if (!value || !row->contains(layer.x.field) || !row->contains(layer.y.field)) continue;
    const auto x = across.index.find(label_of((*row)[layer.x.field]));
    const auto y = down.index.find(label_of((*row)[layer.y.field]));
    if (x == across.index.end() || y == down.index.end()) continue;
    ++filled;
    const std::string text = numbered ? left_padded(numbers.written(*row), numbers.width) + " " : "";
    for (std::size_t i = 0; i < cell; ++i) {
      const bool shaded = !numbered || i == 0;
      canvas.put(x->second * cell + i, y->second, shaded ? shades[shading.shade(*value)] : text.substr(i - 1, 1),
                 shaded ? shading.colour(*value) : no_colour);
    }
  }
  std::vector<std::string> legend = shading.legend(layer.colour.title, options.colour);
  if (filled < across.index.size() * down.index.size()) legend.push_back("[" + std::string(no_value) + "] none");
  const std::string note =
      left_out(across, layer.x.title, options.width) + left_out(down, layer.y.title, options.width);
  return {.body = framed(canvas, ticks_of(across, layer.x, cell), layer.x.title, y_ticks, layer.y.title, options),
          .legend = joined(legend, options.width) + note};
}

}  // namespace locus::figures
