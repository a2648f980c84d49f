// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/cells.h"

#include <algorithm>

namespace locus::doctor {

Cells cells_of(const RotationDump& dump) {
  Cells cells{.rows = dump.batch * dump.tokens, .heads = dump.heads};
  const auto dim = static_cast<std::ptrdiff_t>(dump.head_dim);
  const auto zero = [&](const std::vector<double>& values, std::ptrdiff_t cell) {
    const auto from = values.begin() + cell * dim;
    return std::all_of(from, from + dim, [](double value) { return value == 0; });
  };
  for (std::ptrdiff_t n = 0; n < static_cast<std::ptrdiff_t>(cells.rows * cells.heads); ++n) {
    const bool empty = zero(dump.before, n), gone = zero(dump.after, n);
    cells.state.push_back(empty && gone ? CellState::empty
                          : gone        ? CellState::zero
                          : empty       ? CellState::strange
                                        : CellState::usable);
    cells.source.push_back(static_cast<std::int64_t>(n));
  }
  cells.in_doubt.assign(cells.state.size(), 0);
  return cells;
}

}  // namespace locus::doctor
