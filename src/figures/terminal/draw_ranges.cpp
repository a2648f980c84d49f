// SPDX-License-Identifier: Apache-2.0
// Numbers with their intervals, one per row: label, ├──●──┤, the numbers. Rows of another colour have another dot.
#include <algorithm>
#include <functional>

#include "figures/spec.h"
#include "figures/terminal/draw_parts.h"
#include "figures/terminal/draw_scale.h"
#include "locus/text.h"

namespace locus::figures {
namespace {

constexpr std::string_view dots[] = {"●", "○", "◆", "◇"};

struct Row {
  std::string label;
  std::optional<double> low, value, high;
  std::size_t series = 0;

  bool has_interval() const { return low && high && *low < *high; }
};

const Layer* find_layer(const Panel& panel, const std::function<bool(const Layer&)>& wanted) {
  const auto found = std::find_if(panel.layers.begin(), panel.layers.end(), wanted);
  return found == panel.layers.end() ? nullptr : &*found;
}

const Layer* interval_layer(const Panel& panel) {
  return find_layer(panel, [](const Layer& layer) {
    return layer.mark == "rule" && layer.y.discrete && layer.x.present() && layer.x2.present();
  });
}

const Layer* point_layer(const Panel& panel) {
  return find_layer(panel, [](const Layer& layer) {
    return layer.mark == "point" && layer.y.discrete && layer.x.present() && !layer.x.discrete;
  });
}

std::vector<Row> rows_of(const Layer& points, const Layer& intervals, const std::vector<std::string>& series) {
  std::vector<Row> rows;
  for (const Json* row : points.rows) {
    if (!row->contains(points.y.field)) continue;
    Row made{.label = plain(label_of((*row)[points.y.field])),
             .low = number_in(*row, intervals.x.field),
             .value = number_in(*row, points.x.field),
             .high = number_in(*row, intervals.x2.field)};
    if (points.colour.present() && row->contains(points.colour.field)) {
      const auto at = std::find(series.begin(), series.end(), label_of((*row)[points.colour.field]));
      made.series = static_cast<std::size_t>(at - series.begin()) % std::size(dots);
    }
    rows.push_back(std::move(made));
  }
  return rows;
}

std::string range_numbers(const Row& row, bool with_interval) {
  std::string text = row.value ? significant(*row.value) : "";
  if (with_interval && row.has_interval()) text += " [" + significant(*row.low) + ", " + significant(*row.high) + "]";
  return text;
}

std::string track_of(const Row& row, const DrawScale& scale, std::size_t width, bool colours) {
  Canvas canvas(width, 1);
  const auto cell = [&](std::optional<double> value) -> std::optional<std::size_t> {
    const auto place = value ? scale.place(*value) : std::nullopt;
    return place ? std::optional(cell_at(*place, width)) : std::nullopt;
  };
  const auto low = cell(row.low), high = cell(row.high), value = cell(row.value);
  if (row.has_interval() && low && high) {
    for (std::size_t column = *low; column <= *high; ++column) canvas.put(column, 0, "─", row.series);
    canvas.put(*low, 0, "├", row.series);
    canvas.put(*high, 0, "┤", row.series);
  }
  if (value) canvas.put(*value, 0, dots[row.series], row.series);
  return right_padded(canvas.line(0, colours), width);
}

}  // namespace

bool has_ranges(const Panel& panel) { return interval_layer(panel) != nullptr && point_layer(panel) != nullptr; }

PanelText draw_ranges(const Panel& panel, const DrawingOptions& options) {
  const Layer &points = *point_layer(panel), &intervals = *interval_layer(panel);
  const std::vector<std::string> series =
      points.colour.present() ? labels_of(points.colour, points.rows) : std::vector<std::string>{};
  const std::vector<Row> rows = rows_of(points, intervals, series);
  DrawScale scale(points.x, points.rows);
  scale.include(intervals.x, intervals.rows);
  scale.include(intervals.x2, intervals.rows);
  constexpr std::size_t least_track = 12;
  std::size_t label_width = 0, short_width = 0, long_width = 0;
  for (const Row& row : rows) {
    label_width = std::max(label_width, std::min(columns_of(row.label), options.width / 2));
    short_width = std::max(short_width, columns_of(range_numbers(row, false)));
    long_width = std::max(long_width, columns_of(range_numbers(row, true)));
  }
  const bool with_interval = label_width + long_width + least_track + 2 <= options.width;
  const std::size_t taken = label_width + (with_interval ? long_width : short_width) + 2;
  const std::size_t width = std::max<std::size_t>(options.width - std::min(options.width, taken), 4);
  std::string text;
  for (const Row& row : rows) {
    text += left_padded(shortened(row.label, label_width), label_width) + " " +
            track_of(row, scale, width, options.colour) + " " + range_numbers(row, with_interval) + "\n";
  }
  std::vector<std::string> legend;
  for (std::size_t i = 0; i < series.size(); ++i) {
    legend.push_back(coloured(dots[i % std::size(dots)], i % std::size(dots), options.colour) + " " + plain(series[i]));
  }
  return {.body = text, .legend = joined(legend, options.width)};
}

}  // namespace locus::figures
