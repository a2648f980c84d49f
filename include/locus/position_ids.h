// SPDX-License-Identifier: Apache-2.0
// Types for a position and for a block of position ids.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace locus {

/// The position id of a token. Ids are 64-bit; schemes are exact up to `max_position` and refuse larger ids.
using Position = std::int64_t;
inline constexpr Position max_position = (Position{1} << 31) - 1;

/// Ids for a batch: `ids[(axis * batch + row) * tokens + token]`. Text has one axis; M-RoPE three (time, height,
/// width), 2-D grids two (row, column).
struct PositionIds {
  std::int64_t axes = 1;
  std::int64_t batch = 1;
  std::int64_t tokens = 0;
  std::vector<Position> ids;

  std::span<const Position> axis(std::int64_t index) const {
    return std::span(ids).subspan(static_cast<std::size_t>(index * batch * tokens),
                                  static_cast<std::size_t>(batch * tokens));
  }
};

}  // namespace locus
