// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/cells.h"

#include <algorithm>
#include <cmath>

namespace locus::doctor {

Cells classify_cells(const RotationDump& dump) {
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
  cells.excluded.assign(cells.state.size(), 0);
  return cells;
}

void exclude_odd_lengths(Cells& cells, const RotationDump& dump, double floor) {
  constexpr std::size_t least = 8;  // fewer do not show the common factor
  const auto dim = static_cast<std::size_t>(dump.head_dim);
  std::vector<double> ratios;
  std::vector<std::size_t> where;
  for (std::size_t cell = 0; cell < cells.state.size(); ++cell) {
    if (cells.state[cell] != CellState::usable) continue;
    double before = 0, after = 0;
    bool moved = false;
    for (std::size_t n = cell * dim; n < (cell + 1) * dim; ++n) {
      before += dump.before[n] * dump.before[n];
      after += dump.after[n] * dump.after[n];
      moved = moved || dump.before[n] != dump.after[n];
    }
    if (!moved) continue;  // unchanged vectors show nothing about the noise of the others
    ratios.push_back(std::log(after / before) / 2);
    where.push_back(cell);
  }
  if (ratios.size() < least) return;
  std::vector<double> sorted = ratios;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t width = std::max<std::size_t>(4, sorted.size() * 3 / 10);
  std::size_t best = 0;
  for (std::size_t n = 0; n + width < sorted.size(); ++n) {
    if (sorted[n + width] - sorted[n] < sorted[best + width] - sorted[best]) best = n;
  }
  const double middle = sorted[best + width / 2];
  const double near = std::max(12 * (sorted[best + width] - sorted[best]), 16 * floor);
  for (std::size_t n = 0; n < ratios.size(); ++n) {
    if (std::abs(ratios[n] - middle) > near) cells.excluded[where[n]] = Cells::whole;
  }
}

}  // namespace locus::doctor
