// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/other_dumps.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "locus/reference.h"

namespace locus::doctor {

RotationDump unrotated(const RotationDump& dump, const Encoding& encoding, Role role, const PositionIds& ids) {
  RotationDump result = dump;
  const Rotation& rotation = encoding.rotation();
  const auto dim = static_cast<std::size_t>(dump.head_dim);
  std::vector<Position> place(static_cast<std::size_t>(ids.axes));
  for (std::size_t head = 0; head * dim < dump.before.size(); ++head) {
    const std::int64_t row = static_cast<std::int64_t>(head) / dump.heads;
    for (std::int64_t axis = 0; axis < ids.axes; ++axis) {
      place[static_cast<std::size_t>(axis)] = ids.axis(axis)[static_cast<std::size_t>(row % (ids.batch * ids.tokens))];
    }
    const std::span<const double> turned(dump.before.data() + head * dim, dim);
    const std::vector<double> back = reference::rotate(rotation, role, Direction::inverse, place, turned);
    const double magnitude = rotation.magnitude * rotation.magnitude;  // the inverse applies it a second time
    for (std::size_t j = 0; j < dim; ++j) {
      const auto at = static_cast<std::int64_t>(j) - rotation.rotary_offset;
      const bool inside = at >= 0 && at < rotation.rotary_dim;
      result.before[head * dim + j] = inside ? back[j] / magnitude : back[j];
    }
  }
  return result;
}

bool unchanged(const RotationDump& dump, const Cells& cells, double floor) {
  const auto dim = static_cast<std::size_t>(dump.head_dim);
  for (std::size_t cell = 0; cell < cells.state.size(); ++cell) {
    if (cells.state[cell] != CellState::usable) continue;
    double size = 0;
    for (std::size_t n = cell * dim; n < (cell + 1) * dim; ++n) size += dump.before[n] * dump.before[n];
    size = std::sqrt(size / static_cast<double>(dim));
    for (std::size_t n = cell * dim; n < (cell + 1) * dim; ++n) {
      if (std::abs(dump.after[n] - dump.before[n]) > 4 * floor * std::max(std::abs(dump.before[n]), size)) return false;
    }
  }
  return true;
}

std::vector<Verdict> judge_unchanged(const RotationDump& dump, const Expectation& expected) {
  const std::string evidence = "no coordinate of " + std::to_string(dump.batch * dump.tokens) + " tokens changed";
  const bool at_zero = expected.positions && std::all_of(expected.positions->ids.begin(), expected.positions->ids.end(),
                                                         [](Position p) { return p == 0; });
  const bool moves = expected.encoding && (expected.encoding->rotation().magnitude != 1);
  if (expected.both_rotated) {
    return {{Verdict::About::dump, "as_expected", "before and after agree", evidence, 0.95}};
  }
  if (at_zero && !moves) return {{Verdict::About::angles, "as_expected", "position 0 turns nothing", evidence, 0.95}};
  const bool single = dump.batch * dump.tokens == 1 && !expected.positions;
  if (single)
    return {{Verdict::About::angles, "as_expected", "one token, at position 0 or not rotated", evidence, 0.5}};
  return {{Verdict::About::angles, "positions_all_zero", "every token was rotated as if at position 0", evidence, 0.5},
          {Verdict::About::angles, "not_rotated", "the rotation was not applied", evidence, 0.5}};
}

Verdict judge_no_rotation(double residual, double noise) {
  std::ostringstream evidence;
  evidence.precision(4);
  evidence << "the best slice leaves a residual of " << residual << ", storage explains " << noise;
  return {Verdict::About::dump, "no_rotation", "this is not a rotation of pairs that the heads share; see the spectrum",
          evidence.str(), 0.95};
}

}  // namespace locus::doctor
