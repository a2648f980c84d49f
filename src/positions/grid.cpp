// SPDX-License-Identifier: Apache-2.0
// Patches of an image: by row and column, by entry of a square table, or by the coordinates of their centres.
#include "positions/checks.h"

namespace locus::positions {

namespace {

void require_sides(std::int64_t rows, std::int64_t cols) {
  require_at_least("grid.rows", rows, 1);
  require_at_least("grid.cols", cols, 1);
}

}  // namespace

PositionIds grid(std::int64_t rows, std::int64_t cols, std::int64_t merge) {
  require_sides(rows, cols);
  require_at_least("grid.merge", merge, 1);
  require(rows % merge == 0 && cols % merge == 0, "grid.merge must divide rows (", rows, ") and cols (", cols,
          "), got ", merge);
  const std::int64_t patches = checked_count("grid", rows, cols);
  PositionIds result = make_ids("grid", 2, 1, patches);
  auto row_id = result.ids.begin();
  auto col_id = result.ids.begin() + patches;
  for (std::int64_t block_row = 0; block_row < rows; block_row += merge) {
    for (std::int64_t block_col = 0; block_col < cols; block_col += merge) {
      for (std::int64_t row = block_row; row < block_row + merge; ++row) {
        for (std::int64_t col = block_col; col < block_col + merge; ++col) {
          *row_id++ = row;
          *col_id++ = col;
        }
      }
    }
  }
  return result;
}

PositionIds pixtral_ids(std::int64_t rows, std::int64_t cols, std::int64_t max_side) {
  require_sides(rows, cols);
  require(rows <= max_side && cols <= max_side, "grid.max_side must be at least rows (", rows, ") and cols (", cols,
          "), got ", max_side);
  require(rows == 1 || max_side <= std::numeric_limits<Position>::max() / rows,
          "grid ids must fit into 64 bits, got rows ", rows, " x max_side ", max_side);
  PositionIds result = make_ids("grid", 1, 1, checked_count("grid", rows, cols));
  auto id = result.ids.begin();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t col = 0; col < cols; ++col) *id++ = row * max_side + col;
  }
  return result;
}

std::vector<std::array<double, 2>> patch_coordinates(std::int64_t rows, std::int64_t cols) {
  require_sides(rows, cols);
  const auto centre = [](std::int64_t index, std::int64_t side) {
    return (static_cast<double>(index) + 0.5) / static_cast<double>(side) * 2.0 - 1.0;
  };
  auto result = checked_vector<std::array<double, 2>>("grid", checked_count("grid", rows, cols));
  auto patch = result.begin();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t col = 0; col < cols; ++col) *patch++ = {centre(row, rows), centre(col, cols)};
  }
  return result;
}

}  // namespace locus::positions
