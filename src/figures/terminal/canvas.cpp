// SPDX-License-Identifier: Apache-2.0
#include "figures/terminal/canvas.h"

#include <iterator>

namespace locus::figures {
namespace {

// The palette of the charts in the 256 colours of terminals.
constexpr int terminal_colours[] = {32, 214, 36, 175, 74, 166, 245};

std::string braille(unsigned dots) {  // U+2800 + dots, in UTF-8
  const unsigned code = 0x2800 + dots;
  return {static_cast<char>(0xE0 | (code >> 12)), static_cast<char>(0x80 | ((code >> 6) & 0x3F)),
          static_cast<char>(0x80 | (code & 0x3F))};
}

}  // namespace

std::string plain(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  return result;
}

std::string joined(const std::vector<std::string>& entries, std::size_t width) {
  std::string result, line;
  for (const std::string& entry : entries) {
    if (!line.empty() && columns_of(line) + 2 + columns_of(entry) > width) {
      result += line + "\n";
      line.clear();
    }
    if (!line.empty()) line += "  ";
    line += entry;
  }
  return line.empty() ? result : result + line + "\n";
}

std::string coloured(std::string_view text, std::size_t index, bool colours) {
  if (!colours) return std::string(text);
  return "\033[38;5;" + std::to_string(terminal_colours[index % std::size(terminal_colours)]) + "m" +
         std::string(text) + "\033[0m";
}

Canvas::Canvas(std::size_t width, std::size_t height) : width_(width), height_(height), cells_(width * height) {}

void Canvas::put(std::size_t column, std::size_t row, std::string_view glyph, std::size_t colour) {
  if (column >= width_ || row >= height_) return;
  cells_[row * width_ + column] = {.glyph = std::string(glyph), .dots = 0, .colour = colour};
}

void Canvas::dot(std::size_t x, std::size_t y, std::size_t colour) {
  if (x >= 2 * width_ || y >= 4 * height_) return;
  constexpr unsigned bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  Cell& cell = cells_[(y / 4) * width_ + x / 2];
  cell.dots |= bits[y % 4][x % 2];
  cell.glyph = braille(cell.dots);
  cell.colour = colour;
}

std::string Canvas::line(std::size_t row, bool colours) const {
  std::string text, blanks;
  for (std::size_t column = 0; column < width_; ++column) {
    const Cell& cell = cells_[row * width_ + column];
    if (cell.glyph.empty() || cell.glyph == " ") {
      blanks += ' ';
    } else {
      text += blanks + coloured(cell.glyph, cell.colour, colours);
      blanks.clear();
    }
  }
  return text;
}

}  // namespace locus::figures
