// SPDX-License-Identifier: Apache-2.0
#include "kernels/row_source.h"

#include <algorithm>
#include <array>

#include "kernels/kernel_state.h"
#include "locus/rows.h"

namespace locus {
namespace {

bool is_exact(const Rotation& rotation) {
  return rotation.profile == Profile::exact && rotation.table_type == ElementType::float32;
}

}  // namespace

RowSource::RowSource(const Encoding& encoding, Role role)
    : encoding_(encoding),
      table_(encoding.row_table()),
      rotation_(encoding.rotation()),
      role_(role),
      tabled_(rotation_.map.kind == PositionMap::Kind::direct && !rotation_.scale),
      fill_([this](Position first, std::int64_t count, float* rows) { uniform_rows(first, count, rows); }) {}

// Rows whose coordinates all equal the position.
void RowSource::uniform_rows(Position first, std::int64_t count, float* rows) {
  const auto pairs = static_cast<std::size_t>(rotation_.pairs());
  if (is_exact(rotation_)) {
    if (!exact_) exact_.emplace(*kernel_state_of(encoding_).rotation, rotation_.magnitude);
    exact_->rows(first, count, rows, 2 * pairs);
    return;
  }
  for (std::int64_t t = 0; t < count; ++t, rows += 2 * pairs) {
    const std::array<Position, 4> ids{first + t, first + t, first + t, first + t};
    rotation_row(rotation_, Role::query, std::span(ids).first(static_cast<std::size_t>(rotation_.axes)),
                 std::span(rows, pairs), std::span(rows + pairs, pairs));
  }
}

const float* RowSource::whole_row(Position position, std::vector<float>& scratch) {
  if (const float* kept = table_.row(position, fill_)) return kept;
  scratch.resize(static_cast<std::size_t>(rotation_.rotary_dim));
  uniform_rows(position, 1, scratch.data());
  return scratch.data();
}

const float* RowSource::other_row(std::span<const Position> ids) {
  const auto pairs = static_cast<std::size_t>(rotation_.pairs());
  if (!tabled_) {
    scratch_.resize(2 * pairs);
    rotation_row(rotation_, role_, ids, std::span(scratch_).first(pairs), std::span(scratch_).last(pairs));
    return scratch_.data();
  }
  const bool alike = std::all_of(ids.begin(), ids.end(), [&](Position id) { return id == ids[0]; });
  if (alike) return whole_row(ids[0], scratch_);
  scratch_.resize(2 * pairs);
  for (std::size_t axis = 0; axis < ids.size(); ++axis) {  // each pair from the row of its coordinate
    const float* from = whole_row(ids[axis], other_);
    for (std::size_t i = 0; i < pairs; ++i) {
      if (rotation_.axis[i] != axis) continue;
      scratch_[i] = from[i];
      scratch_[pairs + i] = from[pairs + i];
    }
  }
  return scratch_.data();
}

}  // namespace locus
