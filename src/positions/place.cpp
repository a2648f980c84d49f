// SPDX-License-Identifier: Apache-2.0
#include "positions/place.h"

#include <algorithm>

namespace locus {

Place place_of(const PositionMap& map, std::span<const Position> ids) {
  Place place;
  if (map.kind == PositionMap::Kind::direct) {
    std::copy(ids.begin(), ids.end(), place.whole.begin());
    return place;
  }
  const Position id = ids[0] - map.prefix;
  place.placed = id >= 0;
  const Position row = id / map.width;
  const Position column = id % map.width;
  if (map.kind == PositionMap::Kind::row_column) {
    place.whole = {row, column};
  } else {
    place.real = true;
    place.centre = {(static_cast<double>(row) + 0.5) / static_cast<double>(map.height) * 2 - 1,
                    (static_cast<double>(column) + 0.5) / static_cast<double>(map.width) * 2 - 1};
  }
  return place;
}

}  // namespace locus
