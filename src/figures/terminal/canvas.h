// SPDX-License-Identifier: Apache-2.0
// A grid of coloured characters, and text that is safe for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_layout.h"

namespace locus::figures {

/// Replaces control characters by `?`: text from a file must not control the terminal.
std::string plain(std::string_view text);

/// Joins entries with two blanks in lines of at most `width` columns, each ended by a newline.
std::string joined(const std::vector<std::string>& entries, std::size_t width);

/// Returns `text` in the colour of series `index`; unchanged if colours are off.
std::string coloured(std::string_view text, std::size_t index, bool colours);

class Canvas {
 public:
  Canvas(std::size_t width, std::size_t height);

  std::size_t width() const { return width_; }
  std::size_t height() const { return height_; }
  /// Puts one character in the colour of a series; later ones replace earlier ones. Row 0 is at the top.
  void put(std::size_t column, std::size_t row, std::string_view glyph, std::size_t colour);
  /// Sets a braille dot. For dots, the grid is twice as wide and four times as high. The dots of a cell add up.
  void dot(std::size_t x, std::size_t y, std::size_t colour);
  /// Returns the character there; empty if there is none.
  const std::string& glyph(std::size_t column, std::size_t row) const { return cells_[row * width_ + column].glyph; }
  /// Returns the row without trailing blanks.
  std::string line(std::size_t row, bool colours) const;

 private:
  struct Cell {
    std::string glyph = {};
    unsigned dots = 0;
    std::size_t colour = 0;
  };
  std::size_t width_, height_;
  std::vector<Cell> cells_;
};

}  // namespace locus::figures
