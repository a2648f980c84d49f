// SPDX-License-Identifier: Apache-2.0
#include "kernels/row_source.h"

#include <algorithm>
#include <array>

#include "kernels/head_rows.h"
#include "kernels/kernel_state.h"
#include "locus/rows.h"
#include "positions/coordinates.h"

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
      tabled_(rotation_.map.kind == PositionMap::Kind::direct && !rotation_.scale &&
              (!rotation_.mix || rotation_.axes == 1)),
      first_scaled_(role == Role::query && rotation_.query_scale ? rotation_.query_scale->first_scaled()
                                                                 : max_position + 1),
      fill_([this](Position first, std::int64_t count, float* rows) { uniform_rows(first, count, rows); }) {}

void RowSource::mix_heads(Role role, std::span<const Position> ids, float* rows) {
  mixed_.resize(row_floats());
  head_rows(rotation_, role, ids, mixed_);
  std::transform(mixed_.begin(), mixed_.end(), rows, [](double value) { return static_cast<float>(value); });
}

// Rows whose coordinates all equal the position.
void RowSource::uniform_rows(Position first, std::int64_t count, float* rows) {
  const auto pairs = static_cast<std::size_t>(rotation_.pairs());
  if (rotation_.mix) {
    for (Position position = first; position < first + count; ++position, rows += row_floats()) {
      mix_heads(Role::key, std::span(&position, 1), rows);
    }
    return;
  }
  if (is_exact(rotation_)) {
    if (!exact_) exact_.emplace(*kernel_state_of(encoding_).rotation, rotation_.magnitude);
    exact_->rows(first, count, rows, 2 * pairs);
    return;
  }
  for (std::int64_t t = 0; t < count; ++t, rows += 2 * pairs) {
    std::array<Position, max_axes> ids{};
    ids.fill(first + t);
    rotation_row(rotation_, Role::key, std::span(ids).first(static_cast<std::size_t>(rotation_.axes)),
                 std::span(rows, pairs), std::span(rows + pairs, pairs));
  }
}

const float* RowSource::whole_row(Position position, std::vector<float>& scratch) {
  if (const float* kept = table_.row(position, fill_)) return kept;
  scratch.resize(row_floats());
  uniform_rows(position, 1, scratch.data());
  return scratch.data();
}

// The factor is part of the magnitude, so that a row is rounded once.
const float* RowSource::scaled_row(std::span<const Position> ids) {
  const auto pairs = static_cast<std::size_t>(rotation_.pairs());
  scratch_.resize(row_floats());
  if (rotation_.mix) {
    mix_heads(role_, ids, scratch_.data());
  } else if (is_exact(rotation_) && tabled_ && ids.size() == 1) {
    if (!scaled_) scaled_.emplace(*kernel_state_of(encoding_).rotation, rotation_.magnitude);
    scaled_->set_magnitude(rotation_.magnitude * rotation_.query_scale->at(ids[0]));
    scaled_->row(ids[0], scratch_.data(), scratch_.data() + pairs);
  } else {
    rotation_row(rotation_, role_, ids, std::span(scratch_).first(pairs), std::span(scratch_).last(pairs));
  }
  return scratch_.data();
}

const float* RowSource::other_row(std::span<const Position> ids) {
  const auto pairs = static_cast<std::size_t>(rotation_.pairs());
  if (!tabled_ || ids[0] >= first_scaled_) return scaled_row(ids);
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
