// SPDX-License-Identifier: Apache-2.0
// shift() and KeyTurn both rotate keys by a row of cos and sin from double. The row of a shift is that of the delta;
// the row of a transition is (row after) / (row before) as complex numbers, which for the same encoding is the same.
#include "kernels/transition.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "kernels/token_access.h"
#include "locus/error.h"
#include "locus/rotate.h"
#include "locus/rows.h"

namespace locus {
namespace {

using Row = std::vector<double>;  // [cos | sin]

std::span<double> cosines(Row& row) { return std::span(row).first(row.size() / 2); }
std::span<double> sines(Row& row) { return std::span(row).last(row.size() / 2); }

// Rotates the rotary slices of a token's heads by a row, for every element type. One object per thread.
class TokenTurner {
 public:
  TokenTurner(ElementType type, Layout layout, std::size_t pairs)
      : type_(type), layout_(layout), single_(2 * pairs), scratch_(rotate_scratch(pairs)) {}

  void turn(RotateTokens token, const Row& row) {
    token.pairs = row.size() / 2;
    if (type_ == ElementType::float64) {
      rotate_token_double(token, layout_, row.data(), row.data() + token.pairs, false);
      return;
    }
    std::transform(row.begin(), row.end(), single_.begin(), [](double value) { return static_cast<float>(value); });
    const float* rows = single_.data();
    token.rows = &rows;
    token.scratch = scratch_.data();
    rotate_tokens_function({type_, layout_.interleaved_in, layout_.interleaved_out})(token);
  }

 private:
  ElementType type_;
  Layout layout_;
  std::vector<float> single_, scratch_;
};

// Whether rotated keys are interleaved.
bool interleaved_after(const Rotation& rotation) {
  return rotation.pairing == Pairing::interleaved && !rotation.deinterleaved_output;
}

// ---- shift

// The rotation that moves a rotated key: without magnitude and centre, in the coordinate order of rotated keys.
Rotation rotation_of_deltas(const Encoding& encoding) {
  Rotation rotation = encoding.rotation();
  require(rotation.map.kind == PositionMap::Kind::direct,
          "shift: the ids of this encoding are cells of a grid and cannot be shifted");
  require(!rotation.mix, "shift: ", encoding.scheme().name, " mixes frequencies, so its keys cannot be shifted");
  rotation.pairing = interleaved_after(rotation) ? Pairing::interleaved : Pairing::half;
  rotation.deinterleaved_output = false;
  rotation.magnitude = 1;
  rotation.phases.clear();
  rotation.query_scale.reset();
  rotation.profile = Profile::exact;
  rotation.table_type = ElementType::float32;
  if (rotation.scale) rotation.scale->centre = 0;
  return rotation;
}

// Rows of deltas. A whole sequence usually moves by one delta, so the last row is kept.
class DeltaRows {
 public:
  DeltaRows(const Rotation& rotation, Role role)
      : rotation_(rotation), role_(role), row_(2 * static_cast<std::size_t>(rotation.pairs())) {}

  const Row& row(std::span<const Position> deltas) {
    if (!std::equal(deltas.begin(), deltas.end(), last_.begin(), last_.end())) {
      rotation_row(rotation_, role_, deltas, cosines(row_), sines(row_));
      last_.assign(deltas.begin(), deltas.end());
    }
    return row_;
  }

 private:
  const Rotation& rotation_;
  Role role_;
  Row row_;
  std::vector<Position> last_;
};

// A delta scales a key like a position at that distance from the centre, so its scale must also stay in the range of
// the type.
Position largest_delta(const Encoding& encoding, ElementType type) {
  const auto& scale = encoding.rotation().scale;
  if (!scale) return max_position;
  const PositionRange range = encoding.position_range(type);
  return std::min(max_position, std::max(range.last - scale->centre, scale->centre - range.first));
}

// ---- transition

// cos and sin of an encoding at a position; without an encoding, of no rotation.
void fill_row(const Encoding* encoding, std::span<const Position> ids, Row& row) {
  if (encoding != nullptr) return rotation_row(encoding->rotation(), Role::key, ids, cosines(row), sines(row));
  const auto sine = row.begin() + static_cast<std::ptrdiff_t>(row.size() / 2);
  std::fill(row.begin(), sine, 1.0);
  std::fill(sine, row.end(), 0.0);
}

// to / from as complex numbers, into `to`.
void divide(Row& to, const Row& from) {
  const std::size_t pairs = to.size() / 2;
  for (std::size_t i = 0; i < pairs; ++i) {
    const double c = from[i], s = from[pairs + i];
    const double size = c * c + s * s;
    const double x = to[i], y = to[pairs + i];
    to[i] = (x * c + y * s) / size;
    to[pairs + i] = (y * c - x * s) / size;
  }
}

// Other profiles round their angles, so that their rows do not compose; cells of a grid have no differences.
bool depends_on_difference(const Transition& change) {
  if (change.from == nullptr || change.from != change.to) return false;
  const Rotation& rotation = change.from->rotation();
  return rotation.map.kind == PositionMap::Kind::direct && rotation.profile == Profile::exact &&
         rotation.table_type == ElementType::float32 && !rotation.mix;
}

}  // namespace

KeyTurn::KeyTurn(const Transition& change)
    : change_(change),
      rotation_((change.to != nullptr ? change.to : change.from)->rotation()),
      pairs_(rotation_.pairs()),
      by_difference_(depends_on_difference(change)) {
  const bool interleaved_raw = rotation_.pairing == Pairing::interleaved;
  interleaved_in_ = change.from == nullptr ? interleaved_raw : interleaved_after(change.from->rotation());
  interleaved_out_ = change.to == nullptr ? interleaved_raw : interleaved_after(change.to->rotation());
  if (!by_difference_) return;
  differences_ = rotation_of_deltas(*change.from);
  if (rotation_.axes == 1 && !rotation_.scale) steps_.emplace(differences_.turns);
}

void KeyTurn::fill_anchor(Position anchor, double* row) const { exact_anchor(differences_, 1.0, anchor, row); }

void KeyTurn::fill(std::span<const Position> from, std::span<const Position> to, float* turn) const {
  Row row(static_cast<std::size_t>(size()));
  std::array<Position, max_axes> deltas{};
  bool near = by_difference_;
  for (std::size_t axis = 0; near && axis < to.size(); ++axis) {
    deltas[axis] = to[axis] - from[axis];
    near = deltas[axis] >= -max_position && deltas[axis] <= max_position;
  }
  if (near && by_steps()) return exact_row(differences_, 1.0, deltas[0], turn, turn + pairs_);
  if (near) {
    rotation_row(differences_, Role::key, std::span(deltas).first(to.size()), cosines(row), sines(row));
  } else {
    Row before(row.size());
    fill_row(change_.from, from, before);
    fill_row(change_.to, to, row);
    divide(row, before);
  }
  std::transform(row.begin(), row.end(), turn, [](double value) { return static_cast<float>(value); });
}

void KeyTurn::multiply(const double* anchor, std::int64_t step, float* turn) const {
  combine_rows({.anchor = anchor,
                .steps = steps_->row(step),
                .width = static_cast<std::size_t>(pairs_),
                .cos = turn,
                .sin = turn + pairs_});
}

void KeyTurn::apply(ElementType type, const TurnedRows& rows) const {
  if (rows.turns.steps == nullptr) return apply_given(type, rows);
  std::vector<float> computed(static_cast<std::size_t>(rows.rows * size()));
  for (std::int64_t t = 0; t < rows.rows; ++t) {
    const StepTurn& turn = rows.turns.steps[t];
    multiply(rows.turns.anchors + turn.anchor * size(), turn.step, computed.data() + t * size());
  }
  TurnedRows given = rows;
  given.turns = {.rows = computed.data(), .stride = size()};
  apply_given(type, given);
}

void KeyTurn::apply_given(ElementType type, const TurnedRows& rows) const {
  const auto size = static_cast<std::int64_t>(size_of(type));
  const auto* in = static_cast<const std::byte*>(rows.in);
  auto* out = static_cast<std::byte*>(rows.out);
  if (in != out && rotation_.rotary_dim < rotation_.head_dim) {
    for (std::int64_t t = 0; t < rows.rows; ++t) {
      std::memcpy(out + t * rows.out_stride * size, in + t * rows.in_stride * size,
                  static_cast<std::size_t>(rotation_.head_dim * size));
    }
  }
  thread_local std::vector<float> scratch;  // this is called for a few keys at a time
  scratch.resize(rotate_scratch(static_cast<std::size_t>(pairs_)));
  RotateTokens tokens{.in = in + rotation_.rotary_offset * size,
                      .out = out + rotation_.rotary_offset * size,
                      .in_token_stride = rows.in_stride,
                      .out_token_stride = rows.out_stride,
                      .in_head_stride = rows.in_stride,
                      .out_head_stride = rows.out_stride,
                      .heads = 1,
                      .pairs = static_cast<std::size_t>(pairs_),
                      .scratch = scratch.data()};
  const RotateTokensFunction turn = rotate_tokens_function({type, interleaved_in_, interleaved_out_});
  if (rows.turns.each != nullptr) {
    tokens.tokens = static_cast<std::size_t>(rows.rows);
    tokens.rows = rows.turns.each;
    return turn(tokens);
  }
  if (rows.turns.stride == 0) {  // as the heads of one token, so that the turn stays in registers
    tokens.heads = static_cast<std::size_t>(rows.rows);
    tokens.rows = &rows.turns.rows;
    return turn(tokens);
  }
  thread_local std::vector<const float*> turns;
  turns.clear();
  for (std::int64_t t = 0; t < rows.rows; ++t) turns.push_back(rows.turns.rows + t * rows.turns.stride);
  tokens.tokens = turns.size();
  tokens.rows = turns.data();
  turn(tokens);
}

void shift(const Encoding& encoding, const HeadsView& view, const PositionIds& deltas, Role role, Executor* executor) {
  check_ids(view, encoding.rotation(), deltas);
  const Position most = largest_delta(encoding, view.type);
  for (const Position delta : deltas.ids) {
    require(delta >= -most && delta <= most, "shift: deltas must be within +-", most, ", got ", delta);
  }
  const Rotation rotation = rotation_of_deltas(encoding);
  const bool interleaved = rotation.pairing == Pairing::interleaved;
  for_ranges(
      executor, view.batch * view.tokens, grain_of(bytes_per_token(view)), [&](std::int64_t begin, std::int64_t end) {
        DeltaRows rows(rotation, role);
        TokenTurner turner(view.type, {interleaved, interleaved}, static_cast<std::size_t>(rotation.pairs()));
        for_tokens(deltas, begin, end, no_runs, [&](std::int64_t batch, std::int64_t t, std::span<const Position> by) {
          std::byte* data = at(view, batch, t, 0, rotation.rotary_offset);
          turner.turn({.in = data,
                       .out = data,
                       .in_head_stride = view.head_stride,
                       .out_head_stride = view.head_stride,
                       .heads = static_cast<std::size_t>(view.heads)},
                      rows.row(by));
        });
      });
}

}  // namespace locus
