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
  empty,     ///< `before` is zero: it says nothing
  zero,      ///< `after` is zero, `before` is not
  still,     ///< not rotated, where the others carry a magnitude
  rescaled,  ///< rotated, but with another magnitude than the others
  strange    ///< no vector of `before` has the lengths of its pairs
};

struct Cells {
  std::int64_t rows = 0;
  std::int64_t heads = 0;
  std::vector<CellState> state = {};      ///< [rows, heads]
  std::vector<std::int64_t> source = {};  ///< [rows, heads]: which vector of `before` it is made of, row * heads + head
  /// [rows, heads]: not 0 where a vector is left out of what is measured: `whole`, by doubt_lengths or with its head;
  /// `single`, by itself, to be compared with the verdict in the end.
  std::vector<std::uint8_t> in_doubt = {};
  static constexpr std::uint8_t whole = 1, single = 2;

  CellState at(std::int64_t row, std::int64_t head) const {
    return state[static_cast<std::size_t>(row * heads + head)];
  }
};

/// Finds what is empty and what is zero; everything else is usable and made of itself.
Cells cells_of(const RotationDump& dump);

/// Puts vectors in doubt whose length changed by another factor than that of most: they must not outvote the others
/// where the slice is searched for. `floor` is the least relative noise.
void doubt_lengths(Cells& cells, const RotationDump& dump, double floor);

}  // namespace locus::doctor
