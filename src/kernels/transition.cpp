// SPDX-License-Identifier: Apache-2.0
// shift() and transition() both rotate tokens by a row of cos and sin in double. The row of a shift is that of the
// delta; the row of a transition is (row after) / (row before) as complex numbers.
#include "kernels/transition.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/token_access.h"
#include "locus/error.h"
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
      : type_(type), layout_(layout), single_(2 * pairs), scratch_(3 * pairs) {}

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
void fill_row(const Encoding* encoding, Position id, Row& row) {
  if (encoding == nullptr) {
    std::ranges::fill(cosines(row), 1.0);
    std::ranges::fill(sines(row), 0.0);
    return;
  }
  const Rotation& rotation = encoding->rotation();
  const std::vector<Position> ids(static_cast<std::size_t>(rotation.axes), id);
  rotation_row(rotation, Role::key, ids, cosines(row), sines(row));
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

}  // namespace

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

void transition(const Transition& change, const HeadsView& input, const HeadsView& output, const Moves& moves) {
  const Rotation& rotation = (change.to != nullptr ? change.to : change.from)->rotation();
  const bool interleaved_raw = rotation.pairing == Pairing::interleaved;
  const Layout layout{change.from == nullptr ? interleaved_raw : interleaved_after(change.from->rotation()),
                      change.to == nullptr ? interleaved_raw : interleaved_after(change.to->rotation())};
  const auto pairs = static_cast<std::size_t>(rotation.pairs());
  const std::size_t head_bytes = static_cast<std::size_t>(input.head_dim) * size_of(input.type);
  TokenTurner turner(input.type, layout, pairs);
  Row from(2 * pairs), to(2 * pairs);
  std::vector<std::byte> token(head_bytes * static_cast<std::size_t>(input.heads));
  for (std::size_t t = 0; t < moves.input_slots.size(); ++t) {
    fill_row(change.from, moves.from_ids[t], from);
    fill_row(change.to, moves.to_ids[t], to);
    divide(to, from);
    // Copies the heads first: the output may be the input, and the layouts may differ.
    for (std::int64_t head = 0; head < input.heads; ++head) {
      std::byte* gathered = token.data() + static_cast<std::size_t>(head) * head_bytes;
      std::memcpy(gathered, at(input, 0, moves.input_slots[t], head, 0), head_bytes);
      std::memcpy(at(output, 0, moves.output_slots[t], head, 0), gathered, head_bytes);
    }
    turner.turn({.in = token.data() + static_cast<std::size_t>(rotation.rotary_offset) * size_of(input.type),
                 .out = at(output, 0, moves.output_slots[t], 0, rotation.rotary_offset),
                 .in_head_stride = static_cast<std::ptrdiff_t>(input.head_dim),
                 .out_head_stride = output.head_stride,
                 .heads = static_cast<std::size_t>(input.heads)},
                to);
  }
}

}  // namespace locus
