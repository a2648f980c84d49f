// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "figures/terminal/draw_parts.h"

namespace locus::figures {
namespace {

/// Puts labels in one line, each centred on its column, and omits those that would touch another.
std::string label_line(const std::vector<Tick>& ticks, std::size_t width) {
  std::string line;
  for (const Tick& tick : ticks) {
    const std::size_t size = columns_of(tick.label);
    const std::size_t start = std::min(tick.at - std::min(tick.at, size / 2), width > size ? width - size : 0);
    const std::size_t used = columns_of(line);
    if (used > 0 && start < used + 1) continue;
    line += std::string(start - used, ' ') + plain(tick.label);
  }
  return line;
}

}  // namespace

std::size_t margin_of(const std::vector<Tick>& y) {
  std::size_t widest = 0;
  for (const Tick& tick : y) widest = std::max(widest, columns_of(tick.label));
  return widest + 2;
}

std::string framed(const Canvas& canvas, const std::vector<Tick>& x, const std::string& x_title,
                   const std::vector<Tick>& y, const std::string& y_title, const DrawingOptions& options) {
  const std::size_t margin = margin_of(y);
  std::string text = wrapped(plain(y_title), options.width);
  for (std::size_t row = 0; row < canvas.height(); ++row) {
    const auto tick = std::find_if(y.begin(), y.end(), [&](const Tick& one) { return one.at == row; });
    const bool labelled = tick != y.end();
    text += left_padded(labelled ? plain(tick->label) : "", margin - 2) + (labelled ? " ┤" : " │");
    text += canvas.line(row, options.colour) + "\n";
  }
  text += std::string(margin - 1, ' ') + "└";
  for (std::size_t column = 0; column < canvas.width(); ++column) {
    const bool marked = std::any_of(x.begin(), x.end(), [&](const Tick& one) { return one.at == column; });
    text += marked ? "┬" : "─";
  }
  text += "\n" + std::string(margin, ' ') + label_line(x, canvas.width()) + "\n";
  const std::size_t size = columns_of(x_title);
  if (size > options.width) return text + wrapped(plain(x_title), options.width);
  // Below the middle of the axis, or as far right as possible.
  const std::size_t middle = margin + (canvas.width() > size ? (canvas.width() - size) / 2 : 0);
  if (size > 0) text += std::string(std::min(middle, options.width - size), ' ') + plain(x_title) + "\n";
  return text;
}

}  // namespace locus::figures
