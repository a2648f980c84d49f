// SPDX-License-Identifier: Apache-2.0
// The vectors of a dump one by one: what is empty, zero, made of another vector, or of no vector at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "locus/doctor/diagnose.h"

namespace locus::doctor {

inline std::size_t index_of(std::int64_t i) { return static_cast<std::size_t>(i); }

/// What became of the vector of one token and one head.
enum class CellState : std::uint8_t {
  usable,
  empty,   ///< `before` is zero: it says nothing
  zero,    ///< `after` is zero, `before` is not
  still,   ///< not rotated, where the others carry a magnitude
  strange  ///< no vector of `before` has the lengths of its pairs
};

struct Cells {
  std::int64_t rows = 0;
  std::int64_t heads = 0;
  std::vector<CellState> state = {};      ///< [rows, heads]
  std::vector<std::int64_t> source = {};  ///< [rows, heads]: which vector of `before` it is made of, row * heads + head
  std::vector<std::uint8_t> in_doubt = {};  ///< [rows, heads]: another head turns differently

  CellState at(std::int64_t row, std::int64_t head) const {
    return state[static_cast<std::size_t>(row * heads + head)];
  }
};

/// Finds what is empty and what is zero; everything else is usable and made of itself.
Cells cells_of(const RotationDump& dump);

}  // namespace locus::doctor
