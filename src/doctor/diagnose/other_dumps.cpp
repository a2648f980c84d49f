// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/other_dumps.h"

#include <algorithm>
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
    const double magnitude = rotation.magnitude * rotation.magnitude;  // inverse keeps the magnitude: it is on twice
    for (std::size_t j = 0; j < dim; ++j) {
      const auto at = static_cast<std::int64_t>(j) - rotation.rotary_offset;
      const bool inside = at >= 0 && at < rotation.rotary_dim;
      result.before[head * dim + j] = inside ? back[j] / magnitude : back[j];
    }
  }
  return result;
}

RotationDump with_heads(const RotationDump& dump, const std::vector<std::int64_t>& map) {
  RotationDump result = dump;
  const std::int64_t rows = dump.batch * dump.tokens;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t h = 0; h < dump.heads; ++h) {
      const auto from = dump.before.begin() + (row * dump.heads + map[static_cast<std::size_t>(h)]) * dump.head_dim;
      std::copy(from, from + dump.head_dim, result.before.begin() + (row * dump.heads + h) * dump.head_dim);
    }
  }
  return result;
}

std::vector<Verdict> judge_unchanged(const RotationDump& dump, const Expectation& expected) {
  const std::string evidence = "no coordinate of " + std::to_string(dump.batch * dump.tokens) + " tokens changed";
  const bool at_zero = expected.positions && std::all_of(expected.positions->ids.begin(), expected.positions->ids.end(),
                                                         [](Position p) { return p == 0; });
  const bool moves = expected.encoding && (expected.encoding->rotation().magnitude != 1);
  if (expected.both_rotated) {
    return {{Verdict::About::dump, "as_expected", "the two agree", evidence, 0.95}};
  }
  if (at_zero && !moves) return {{Verdict::About::angles, "as_expected", "position 0 turns nothing", evidence, 0.95}};
  const bool single = dump.batch * dump.tokens == 1 && !expected.positions;
  if (single)
    return {{Verdict::About::angles, "as_expected", "one token, at position 0 or not rotated", evidence, 0.5}};
  return {{Verdict::About::angles, "positions_all_zero", "every token was rotated as if at position 0", evidence, 0.5},
          {Verdict::About::angles, "not_rotated", "the rotation was not applied", evidence, 0.5}};
}

Verdict judge_heads(const std::vector<std::int64_t>& map) {
  std::ostringstream heads;
  for (std::size_t h = 0; h < map.size(); ++h) heads << (h == 0 ? "" : ", ") << map[h];
  return {Verdict::About::heads, "wrong_heads", "heads of `after` are rotations of other heads of `before`",
          "head h of after has the norms of before's heads " + heads.str(), 0.95};
}

Verdict judge_no_rotation(double residual, double noise) {
  std::ostringstream evidence;
  evidence.precision(4);
  evidence << "the best slice leaves a residual of " << residual << ", storage explains " << noise;
  return {Verdict::About::dump, "no_rotation", "this is no rotation of pairs shared by the heads; see the spectrum",
          evidence.str(), 0.95};
}

}  // namespace locus::doctor
