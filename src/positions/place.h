// SPDX-License-Identifier: Apache-2.0
// From the ids of a token to the coordinates that frequencies multiply (PositionMap in locus/site.h).
#pragma once

#include <array>
#include <span>

#include "locus/site.h"

namespace locus {

/// The most axes that an encoding has: time, height, width and one more.
inline constexpr std::size_t max_axes = 4;

/// Whole coordinates, or real ones in [-1, 1], or none (a token before the first patch).
struct Place {
  bool placed = true;
  bool real = false;
  std::array<Position, max_axes> whole{};
  std::array<double, max_axes> centre{};

  double coordinate(std::size_t axis) const { return real ? centre[axis] : static_cast<double>(whole[axis]); }
};

/// `ids` has one id per axis of the map.
Place place_of(const PositionMap& map, std::span<const Position> ids);

}  // namespace locus
