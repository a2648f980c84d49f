// SPDX-License-Identifier: Apache-2.0
#include "figures/terminal/drawing.h"

#include <algorithm>
#include <set>
#include <span>

#include "figures/terminal/draw_parts.h"
#include "locus/error.h"

namespace locus::figures {
namespace {

bool has_mark(const Panel& panel, std::string_view mark) {
  return std::any_of(panel.layers.begin(), panel.layers.end(), [&](const Layer& layer) { return layer.mark == mark; });
}

/// Numbers inside rects are drawn together with them.
bool is_drawn(const Panel& panel, const Layer& layer) {
  static const std::set<std::string> known = {"rect", "bar", "line", "point", "circle", "square", "rule"};
  return known.contains(layer.mark) || (layer.mark == "text" && has_mark(panel, "rect"));
}

PanelText draw_panel(const Panel& panel, const DrawingOptions& options) {
  if (has_mark(panel, "rect")) return draw_heatmap(panel, options);
  if (has_mark(panel, "bar")) return draw_bars(panel, options);
  if (has_ranges(panel)) return draw_ranges(panel, options);
  return draw_curves(panel, options);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Puts texts next to each other, each `width` columns wide and two apart.
std::string side_by_side(std::span<const std::string> texts, std::size_t width) {
  std::vector<std::vector<std::string>> columns;
  std::size_t height = 0;
  for (const std::string& text : texts) {
    columns.push_back(lines_of(text));
    height = std::max(height, columns.back().size());
  }
  std::string result;
  for (std::size_t row = 0; row < height; ++row) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      line = right_padded(line, i * (width + 2)) + (row < columns[i].size() ? columns[i][row] : "");
    }
    result += line + "\n";
  }
  return result;
}

constexpr std::string_view before_title = "── ";

/// Returns the columns that a panel needs next to others; long labels and titles need more.
std::size_t least_width(const Panel& panel) {
  std::size_t labels = 0;
  for (const Layer& layer : panel.layers) {
    if (layer.mark != "bar" && !has_ranges(panel)) continue;
    for (const std::string& label : labels_of(layer.x.discrete ? layer.x : layer.y, layer.rows)) {
      labels = std::max(labels, columns_of(label));
    }
  }
  constexpr std::size_t least = 38;
  return std::max({least, columns_of(before_title) + columns_of(panel.title), labels == 0 ? least : labels + least});
}

/// Draws all panels, as many in a row as fit; shared legends once.
std::string draw_panels(const std::vector<Panel>& panels, DrawingOptions options) {
  std::size_t widest = 1;
  for (const Panel& panel : panels) widest = std::max(widest, least_width(panel));
  const std::size_t in_a_row = std::min(panels.size(), std::max<std::size_t>((options.width + 2) / (widest + 2), 1));
  if (in_a_row > 1) options.width = (options.width + 2) / in_a_row - 2;
  std::vector<std::string> bodies, legends;
  for (const Panel& panel : panels) {
    const PanelText drawn = draw_panel(panel, options);
    const bool shared = !legends.empty() && legends.back() == drawn.legend;
    if (shared) legends.back().clear();
    legends.push_back(drawn.legend);
    bodies.push_back(
        (panel.title.empty() ? "" : wrapped(std::string(before_title) + plain(panel.title), options.width)) +
        drawn.body);
  }
  std::string text;
  for (std::size_t first = 0; first < bodies.size(); first += in_a_row) {
    const std::size_t count = std::min(in_a_row, bodies.size() - first);
    text += side_by_side(std::span(bodies).subspan(first, count), options.width);
    for (std::size_t i = first; i < first + count; ++i) text += legends[i];
    text += "\n";
  }
  return text;
}

}  // namespace

std::string draw(const Figure& figure, const DrawingOptions& options) {
  require(options.width >= 40, "a drawing must be at least 40 columns wide, got ", options.width);
  std::string text = wrapped(plain(figure.title), options.width) + "\n";
  const std::vector<Panel> panels = panels_of(figure.spec);
  text += draw_panels(panels, options);
  std::set<std::string> missing;
  for (const Panel& panel : panels) {
    for (const Layer& layer : panel.layers) {
      if (!is_drawn(panel, layer)) missing.insert(layer.mark);
    }
  }
  std::string note;
  for (const std::string& mark : missing) note += (note.empty() ? "" : ", ") + mark;
  if (!note.empty())
    text += wrapped("Not drawn here, but in what -o writes: marks of the kinds " + plain(note) + ".", options.width);
  return text + wrapped(plain(figure.caption), options.width);
}

}  // namespace locus::figures
