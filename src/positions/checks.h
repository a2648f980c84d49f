// SPDX-License-Identifier: Apache-2.0
// Checks of every planner, made before it allocates or adds.
#pragma once

#include <limits>
#include <new>
#include <string_view>

#include "locus/error.h"
#include "locus/positions.h"

namespace locus::positions {

inline void require_at_least(std::string_view name, std::int64_t value, std::int64_t least) {
  require(value >= least, name, " must be at least ", least, ", got ", value);
}

/// Returns first * second of numbers that are at least 0. Error: a product above max_ids.
inline std::int64_t checked_count(std::string_view name, std::int64_t first, std::int64_t second) {
  require(second == 0 || first <= max_ids / second, name, " must hold at most ", max_ids, " ids, got ", first, " x ",
          second);
  return first * second;
}

/// Returns first + second of numbers that are at least 0. Error: a sum beyond 64 bits.
inline Position checked_sum(std::string_view name, Position first, Position second) {
  require(first <= std::numeric_limits<Position>::max() - second, name, " must fit into 64 bits, got ", first, " + ",
          second);
  return first + second;
}

template <class Value>
std::vector<Value> checked_vector(std::string_view name, std::int64_t size) try {
  return std::vector<Value>(static_cast<std::size_t>(size));
} catch (const std::bad_alloc&) {
  fail(name, " must fit into memory, got ", size, " entries");
}

/// Returns ids of this shape, all 0.
inline PositionIds make_ids(std::string_view name, std::int64_t axes, std::int64_t batch, std::int64_t tokens) {
  const std::int64_t size = checked_count(name, checked_count(name, axes, batch), tokens);
  return {axes, batch, tokens, checked_vector<Position>(name, size)};
}

}  // namespace locus::positions
