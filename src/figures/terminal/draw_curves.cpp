// SPDX-License-Identifier: Apache-2.0
// Lines, points and rules. A single series is drawn in braille dots, several as letters, so that they differ without
// colour. Points coloured by a number are drawn as one digit from 0 to 9.
#include <algorithm>
#include <cmath>

#include "figures/spec.h"
#include "figures/terminal/draw_parts.h"
#include "figures/terminal/draw_scale.h"

namespace locus::figures {
namespace {

constexpr std::string_view several = "*";
constexpr std::size_t grey = 6;

struct Plot {
  const Panel& panel;
  DrawScale x, y;
  Canvas canvas;
  std::vector<std::string> series = {};  ///< by letter; empty: one
};

std::string letter(std::size_t index) { return std::string(1, static_cast<char>('A' + index % 26)); }

bool is_point(const std::string& mark) { return mark == "point" || mark == "circle" || mark == "square"; }

/// Puts a letter, or a star if another series is already there.
void put_letter(Canvas& canvas, std::size_t column, std::size_t row, const std::string& glyph, std::size_t colour) {
  const std::string& there = canvas.glyph(column, row);
  const bool taken = there.size() == 1 && there != glyph;  // rules and dots are longer in UTF-8
  canvas.put(column, row, taken ? std::string(several) : glyph, taken ? grey : colour);
}

using Place = std::pair<double, double>;  // across and up, 0 to 1

/// Connects two places by cells or, without a glyph, by dots.
void join(Canvas& canvas, Place from, Place to, const std::string& glyph, std::size_t colour) {
  const auto [x0, y0] = from;
  const auto [x1, y1] = to;
  const std::size_t across = glyph.empty() ? 2 * canvas.width() : canvas.width();
  const std::size_t down = glyph.empty() ? 4 * canvas.height() : canvas.height();
  const double steps =
      std::max({std::fabs(x1 - x0) * static_cast<double>(across), std::fabs(y1 - y0) * static_cast<double>(down), 1.0});
  const auto count = static_cast<std::size_t>(std::ceil(steps));
  for (std::size_t i = 0; i <= count; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(count);
    const std::size_t column = cell_at(x0 + (x1 - x0) * part, across);
    const std::size_t row = cell_at(1 - (y0 + (y1 - y0) * part), down);
    if (glyph.empty()) {
      canvas.dot(column, row, colour);
    } else {
      put_letter(canvas, column, row, glyph, colour);
    }
  }
}

/// Returns the digit 0 .. 9 of a number between the channel's lowest and highest.
std::string digit_of(const Json& row, const Channel& channel, const DrawScale& scale) {
  const auto part = scale.place(row, channel.field);
  return part ? std::to_string(std::min(9, static_cast<int>(*part * 10))) : "?";
}

void draw_line(Plot& plot, const Layer& layer, const std::vector<const Json*>& rows, std::size_t series) {
  std::vector<std::pair<double, double>> places;
  for (const Json* row : rows) {
    const auto x = plot.x.place(*row, layer.x.field), y = plot.y.place(*row, layer.y.field);
    if (x && y) places.emplace_back(*x, *y);
  }
  std::sort(places.begin(), places.end());  // the order in which a line mark connects them
  const std::string glyph = plot.series.size() > 1 ? letter(series) : "";
  for (std::size_t i = 0; i < places.size(); ++i) {
    join(plot.canvas, places[i == 0 ? 0 : i - 1], places[i], glyph, series);
  }
}

void draw_points(Plot& plot, const Layer& layer, const std::vector<const Json*>& rows, std::size_t series) {
  const bool by_number = layer.colour.present() && !layer.colour.discrete;
  const DrawScale digits(layer.colour, layer.rows);
  for (const Json* row : rows) {
    const auto x = plot.x.place(*row, layer.x.field), y = plot.y.place(*row, layer.y.field);
    if (!x || !y) continue;
    const std::size_t column = cell_at(*x, plot.canvas.width()), line = cell_at(1 - *y, plot.canvas.height());
    if (by_number) {
      plot.canvas.put(column, line, digit_of(*row, layer.colour, digits), series);
    } else if (plot.series.size() > 1) {
      put_letter(plot.canvas, column, line, letter(series), series);
    } else {
      plot.canvas.put(column, line, "•", series);
    }
  }
}

/// Draws a line across the chart at a value of one axis, below everything else.
void draw_rule(Plot& plot, const Layer& layer) {
  Canvas& canvas = plot.canvas;
  for (const Json* row : layer.rows) {
    if (layer.y.present() && !layer.x.present()) {
      const auto y = plot.y.place(*row, layer.y.field);
      for (std::size_t column = 0; y && column < canvas.width(); ++column) {
        canvas.put(column, cell_at(1 - *y, canvas.height()), "╌", grey);
      }
    } else if (layer.x.present() && !layer.y.present()) {
      const auto x = plot.x.place(*row, layer.x.field);
      for (std::size_t line = 0; x && line < canvas.height(); ++line) {
        canvas.put(cell_at(*x, canvas.width()), line, "╎", grey);
      }
    }
  }
}

void draw_layer(Plot& plot, const Layer& layer) {
  if (layer.mark == "rule") return draw_rule(plot, layer);
  if (layer.mark != "line" && !is_point(layer.mark)) return;
  const bool grouped = layer.colour.present() && layer.colour.discrete;
  const std::vector<std::string> names = grouped ? labels_of(layer.colour, layer.rows) : std::vector<std::string>{""};
  for (const std::string& name : names) {
    std::vector<const Json*> rows;
    for (const Json* row : layer.rows) {
      if (!grouped || (row->contains(layer.colour.field) && label_of((*row)[layer.colour.field]) == name)) {
        rows.push_back(row);
      }
    }
    const auto at = std::find(plot.series.begin(), plot.series.end(), name);
    const auto series = at == plot.series.end() ? 0 : static_cast<std::size_t>(at - plot.series.begin());
    if (layer.mark == "line") {
      draw_line(plot, layer, rows, series);
    } else {
      draw_points(plot, layer, rows, series);
    }
  }
}

bool holds(const Canvas& canvas, std::string_view glyph) {
  for (std::size_t i = 0; i < canvas.width() * canvas.height(); ++i) {
    if (canvas.glyph(i % canvas.width(), i / canvas.width()) == glyph) return true;
  }
  return false;
}

std::string legend_of(const Plot& plot, const DrawingOptions& options) {
  std::vector<std::string> entries;
  if (plot.series.size() > 1) {
    for (std::size_t i = 0; i < plot.series.size(); ++i) {
      entries.push_back(coloured(letter(i), i, options.colour) + " " + plain(plot.series[i]));
    }
    if (holds(plot.canvas, several)) entries.push_back(coloured(several, grey, options.colour) + " several");
  }
  for (const Layer& layer : plot.panel.layers) {
    if (!is_point(layer.mark) || !layer.colour.present() || layer.colour.discrete) continue;
    double low = 0, high = 0;
    for (const Json* row : layer.rows) {
      const double value = number_in(*row, layer.colour.field).value_or(0);
      low = row == layer.rows.front() ? value : std::min(low, value);
      high = row == layer.rows.front() ? value : std::max(high, value);
    }
    entries.push_back(plain(layer.colour.title) + ": 0 is " + pretty(low) + ", 9 is " + pretty(high));
    break;
  }
  return joined(entries, options.width);
}

}  // namespace

PanelText draw_curves(const Panel& panel, const DrawingOptions& options) {
  const auto main = std::find_if(panel.layers.begin(), panel.layers.end(),
                                 [](const Layer& layer) { return layer.x.present() && layer.y.present(); });
  if (main == panel.layers.end()) return {};
  // All layers share the axes.
  DrawScale x(main->x, main->rows), y(main->y, main->rows);
  std::vector<std::string> series;
  for (const Layer& layer : panel.layers) {
    x.include(layer.x, layer.rows);
    y.include(layer.y, layer.rows);
    if (!layer.colour.present() || !layer.colour.discrete) continue;
    for (const std::string& name : labels_of(layer.colour, layer.rows)) {
      if (std::find(series.begin(), series.end(), name) == series.end()) series.push_back(name);
    }
  }
  const std::size_t height = options.width >= 60 ? 16 : 12;
  const std::vector<Tick> y_ticks = y.ticks(height, 6, true);
  const std::size_t width = options.width - margin_of(y_ticks);
  Plot plot{.panel = panel, .x = x, .y = y, .canvas = Canvas(width, height), .series = series};
  for (const Layer& layer : panel.layers) {
    if (layer.mark == "rule") draw_layer(plot, layer);
  }
  for (const Layer& layer : panel.layers) {
    if (layer.mark != "rule") draw_layer(plot, layer);
  }
  return {
      .body = framed(plot.canvas, x.ticks(width, width / 10, false), main->x.title, y_ticks, main->y.title, options),
      .legend = legend_of(plot, options)};
}

}  // namespace locus::figures
