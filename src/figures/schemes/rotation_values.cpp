// SPDX-License-Identifier: Apache-2.0
#include "figures/schemes/rotation_values.h"

#include "locus/rows.h"

namespace locus::figures {

TurnedPairs turned_pairs(const Encoding& encoding, Role role, Position position) {
  const Rotation& rotation = encoding.rotation();
  const std::vector<Position> ids(static_cast<std::size_t>(rotation.axes), position);
  encoding.check_positions(ids);
  const auto pairs = static_cast<std::size_t>(rotation.pairs());
  TurnedPairs turned{.cos = std::vector<double>(pairs), .sin = std::vector<double>(pairs)};
  rotation_row(rotation, role, ids, turned.cos, turned.sin);
  return turned;
}

}  // namespace locus::figures
