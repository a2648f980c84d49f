// SPDX-License-Identifier: Apache-2.0
// Several documents in one row; each counts from 0.
#include <numeric>
#include <string>

#include "positions/checks.h"

namespace locus::positions {

PositionIds packed(std::span<const std::int64_t> lengths) {
  std::int64_t tokens = 0;
  for (std::size_t document = 0; document < lengths.size(); ++document) {
    require(lengths[document] >= 0, "packed.lengths[", document, "] must be at least 0, got ", lengths[document]);
    tokens = checked_sum("packed", tokens, lengths[document]);
  }
  PositionIds result = make_ids("packed", 1, 1, tokens);
  auto first = result.ids.begin();
  for (const std::int64_t length : lengths) {
    std::iota(first, first + length, Position{0});
    first += length;
  }
  return result;
}

PositionIds packed_from_cumulative(std::span<const std::int64_t> boundaries) {
  require(!boundaries.empty() && boundaries.front() == 0, "packed.boundaries must start at 0, got ",
          [&] { return boundaries.empty() ? std::string("nothing") : std::to_string(boundaries.front()); });
  std::vector<std::int64_t> lengths(boundaries.size() - 1);
  for (std::size_t document = 0; document < lengths.size(); ++document) {
    require(boundaries[document + 1] >= boundaries[document], "packed.boundaries must not decrease, got ",
            boundaries[document + 1], " after ", boundaries[document]);
    lengths[document] = boundaries[document + 1] - boundaries[document];
  }
  return packed(lengths);
}

}  // namespace locus::positions
