// SPDX-License-Identifier: Apache-2.0
#include "positions/coordinates.h"

#include <algorithm>

namespace locus {

Coordinates coordinates_of(const PositionMap& map, std::span<const Position> ids) {
  Coordinates coordinates;
  if (map.kind == PositionMap::Kind::direct) {
    std::copy(ids.begin(), ids.end(), coordinates.whole.begin());
    return coordinates;
  }
  const Position id = ids[0] - map.prefix;
  coordinates.defined = id >= 0;
  const Position row = id / map.width;
  const Position column = id % map.width;
  if (map.kind == PositionMap::Kind::row_column) {
    coordinates.whole = {row, column};
  } else {
    coordinates.real = true;
    coordinates.centre = {(static_cast<double>(row) + 0.5) / static_cast<double>(map.height) * 2 - 1,
                          (static_cast<double>(column) + 0.5) / static_cast<double>(map.width) * 2 - 1};
  }
  return coordinates;
}

}  // namespace locus
