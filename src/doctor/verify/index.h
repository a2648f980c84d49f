// SPDX-License-Identifier: Apache-2.0
// Converts signed counts to container indices, and lists consecutive ids, including negative ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "locus/position_ids.h"

namespace locus::doctor {

inline std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

inline std::vector<Position> consecutive(std::int64_t count, Position first = 0) {
  std::vector<Position> ids(at(count));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

}  // namespace locus::doctor
