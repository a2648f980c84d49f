// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/dump_checks.h"

#include <algorithm>
#include <cmath>

#include "locus/error.h"

namespace locus::doctor {

void check_dump(const RotationDump& dump, const Expectation& expected) {
  require(dump.batch >= 1 && dump.tokens >= 1 && dump.heads >= 1 && dump.head_dim >= 2,
          "a dump needs at least one token, one head and two coordinates, got batch ", dump.batch, ", tokens ",
          dump.tokens, ", heads ", dump.heads, ", head_dim ", dump.head_dim);
  const auto size = static_cast<std::size_t>(dump.batch * dump.tokens * dump.heads * dump.head_dim);
  require(dump.before.size() == size && dump.after.size() == size, "before and after must both have ", size,
          " elements, got ", dump.before.size(), " and ", dump.after.size());
  for (const std::vector<double>* values : {&dump.before, &dump.after}) {
    const auto bad = std::find_if(values->begin(), values->end(), [](double value) { return !std::isfinite(value); });
    require(bad == values->end(), values == &dump.before ? "before" : "after", " must be finite, got ",
            bad == values->end() ? 0.0 : *bad, " at element ", bad - values->begin());
  }
  if (expected.positions) {
    const PositionIds& ids = *expected.positions;
    require(ids.tokens == dump.tokens, "positions have ", ids.tokens, " tokens, the dump has ", dump.tokens);
    require(ids.batch == 1 || ids.batch == dump.batch, "positions have ", ids.batch, " batch rows, the dump has ",
            dump.batch);
  }
  if (!expected.encoding || expected.encoding->site() == Site::hidden) return;
  const Rotation& rotation = expected.encoding->rotation();
  require(rotation.head_dim == dump.head_dim, "the encoding has head_dim ", rotation.head_dim, ", the dump ",
          dump.head_dim);
  require(rotation.axes == 1 || expected.positions, "an encoding of ", rotation.axes, " axes needs positions");
  if (expected.positions) {
    require(expected.positions->axes == rotation.axes, "the encoding has ", rotation.axes, " axes of positions, got ",
            expected.positions->axes);
    expected.encoding->check_positions(expected.positions->ids);
  }
}

PositionIds ids_of(const RotationDump& dump, const Expectation& expected) {
  if (expected.positions) return *expected.positions;
  PositionIds ids{.axes = 1, .batch = 1, .tokens = dump.tokens, .ids = {}};
  for (Position p = 0; p < dump.tokens; ++p) ids.ids.push_back(p);
  return ids;
}

std::vector<Position> per_row(const PositionIds& ids, std::int64_t batch) {
  std::vector<Position> rows;
  for (std::int64_t b = 0; b < batch; ++b) {
    const auto first = ids.ids.begin() + (ids.batch == 1 ? 0 : b * ids.tokens);
    rows.insert(rows.end(), first, first + ids.tokens);
  }
  return rows;
}

}  // namespace locus::doctor
