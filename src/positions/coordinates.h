// SPDX-License-Identifier: Apache-2.0
// Maps the ids of a token to the coordinates that frequencies multiply (PositionMap in locus/site.h).
#pragma once

#include <array>
#include <span>

#include "locus/site.h"

namespace locus {

/// The largest number of axes of an encoding.
inline constexpr std::size_t max_axes = 8;

/// Integer coordinates, or real ones in [-1, 1], or none (a token before the first patch).
struct Coordinates {
  bool defined = true;
  bool real = false;
  std::array<Position, max_axes> whole{};
  std::array<double, max_axes> centre{};

  double coordinate(std::size_t axis) const { return real ? centre[axis] : static_cast<double>(whole[axis]); }
};

/// Returns the coordinates of a token; `ids` has one id per axis of the map.
Coordinates coordinates_of(const PositionMap& map, std::span<const Position> ids);

}  // namespace locus
