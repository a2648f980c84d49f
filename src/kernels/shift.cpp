// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "kernels/token_access.h"
#include "locus/error.h"
#include "locus/rotate.h"
#include "locus/rows.h"

namespace locus {
namespace {

// The rotation that moves a rotated key: no magnitude, no centre, and the order that the keys came out in.
class Shifter {
 public:
  Shifter(const Encoding& encoding, Role role) : role_(role), rotation_(encoding.rotation()) {
    require(rotation_.map.kind == PositionMap::Kind::direct, "shift: the ids of this encoding name places of a grid");
    if (rotation_.deinterleaved_output) rotation_.pairing = Pairing::half;
    rotation_.deinterleaved_output = false;
    rotation_.magnitude = 1;
    rotation_.profile = Profile::exact;
    rotation_.table_type = ElementType::float32;
    if (rotation_.scale) rotation_.scale->centre = 0;
    row_.resize(2 * static_cast<std::size_t>(rotation_.pairs()));
  }
  const Rotation& rotation() const { return rotation_; }
  const float* row(std::span<const Position> deltas) {
    const auto pairs = static_cast<std::size_t>(rotation_.pairs());
    rotation_row(rotation_, role_, deltas, std::span(row_).first(pairs), std::span(row_).last(pairs));
    return row_.data();
  }

 private:
  Role role_;
  Rotation rotation_;
  std::vector<float> row_;
};

// A delta scales a key like a position that far from the centre, and its scale must stay inside float32 as well.
Position largest_delta(const Encoding& encoding) {
  const auto& scale = encoding.rotation().scale;
  if (!scale) return max_position;
  const PositionRange range = encoding.position_range();
  return std::min(max_position, std::max(range.last - scale->centre, scale->centre - range.first));
}

}  // namespace

void shift(const Encoding& encoding, const HeadsView& view, const PositionIds& deltas, Role role, Executor* executor) {
  check_ids(view, encoding.rotation(), deltas);
  const Position most = largest_delta(encoding);
  for (const Position delta : deltas.ids) {
    require(delta >= -most && delta <= most, "shift: deltas must be within +-", most, ", got ", delta);
  }
  for_ranges(
      executor, view.batch * view.tokens, grain_of(bytes_per_token(view)), [&](std::int64_t begin, std::int64_t end) {
        Shifter shifter(encoding, role);
        const Rotation& rotation = shifter.rotation();
        const bool interleaved = rotation.pairing == Pairing::interleaved;
        const bool wide = view.type == ElementType::float64;
        const auto pairs = static_cast<std::size_t>(rotation.pairs());
        std::vector<float> scratch(3 * pairs);
        std::vector<double> row(2 * pairs);
        for_tokens(deltas, begin, end, no_runs, [&](std::int64_t batch, std::int64_t t, std::span<const Position> by) {
          std::byte* data = at(view, batch, t, 0, rotation.rotary_offset);
          RotateTokens token{.in = data,
                             .out = data,
                             .in_head_stride = view.head_stride,
                             .out_head_stride = view.head_stride,
                             .heads = static_cast<std::size_t>(view.heads),
                             .pairs = pairs,
                             .scratch = scratch.data()};
          if (wide) {
            rotation_row(rotation, role, by, std::span(row).first(pairs), std::span(row).last(pairs));
            rotate_token_double(token, {interleaved, interleaved}, row.data(), row.data() + pairs, false);
            return;
          }
          const float* turned_by = shifter.row(by);
          token.rows = &turned_by;
          rotate_tokens_function({view.type, interleaved, interleaved})(token);
        });
      });
}

}  // namespace locus
