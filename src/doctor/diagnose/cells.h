// SPDX-License-Identifier: Apache-2.0
// Classifies each vector of a dump: empty, zero, computed from another vector, or from none. A cell is the vector of
// one token and one head.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "locus/doctor/diagnose.h"

namespace locus::doctor {

inline std::size_t index_of(std::int64_t i) { return static_cast<std::size_t>(i); }

/// What happened to one cell.
enum class CellState : std::uint8_t {
  usable,
  empty,     ///< `before` is zero, so the cell shows nothing
  zero,      ///< `after` is zero, but `before` is not
  still,     ///< not rotated, although the others have a magnitude
  rescaled,  ///< rotated, but with a different magnitude
  strange    ///< no vector of `before` has pairs of these lengths
};

struct Cells {
  std::int64_t rows = 0;
  std::int64_t heads = 0;
  std::vector<CellState> state = {};      ///< [rows, heads]
  std::vector<std::int64_t> source = {};  ///< [rows, heads]: the cell of `before` it was computed from
  /// [rows, heads]: not 0 if a cell is excluded from the measurement. `whole`: by exclude_odd_lengths or with its head.
  /// `single`: alone; the audit compares it with the verdict.
  std::vector<std::uint8_t> excluded = {};
  static constexpr std::uint8_t whole = 1, single = 2;

  CellState at(std::int64_t row, std::int64_t head) const {
    return state[static_cast<std::size_t>(row * heads + head)];
  }
};

/// Finds empty and zero cells. All others are usable, and their own source.
Cells classify_cells(const RotationDump& dump);

/// Excludes cells whose length changed by a different factor than most, so that they cannot outvote the others in the
/// search for the slice. `floor` is the least relative noise.
void exclude_odd_lengths(Cells& cells, const RotationDump& dump, double floor);

}  // namespace locus::doctor
