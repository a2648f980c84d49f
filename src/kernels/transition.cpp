// SPDX-License-Identifier: Apache-2.0
#include "kernels/transition.h"

#include <cstring>

#include "kernels/rotate_simd.h"
#include "locus/error.h"
#include "locus/rows.h"

namespace locus {
namespace {

std::byte* token_at(const HeadsView& view, std::int64_t slot, std::int64_t offset) {
  return static_cast<std::byte*>(view.data) +
         (slot * view.token_stride + offset) * static_cast<std::int64_t>(size_of(view.type));
}

// cos and sin of one encoding at one position, in double; nothing turns without an encoding.
void row_of(const Encoding* encoding, Position id, std::vector<double>& row) {
  const std::size_t pairs = row.size() / 2;
  if (encoding == nullptr) {
    std::fill_n(row.begin(), pairs, 1.0);
    std::fill_n(row.begin() + static_cast<std::ptrdiff_t>(pairs), pairs, 0.0);
    return;
  }
  const Rotation& rotation = encoding->rotation();
  const std::vector<Position> ids(static_cast<std::size_t>(rotation.axes), id);
  rotation_row(rotation, Role::key, ids, std::span(row).first(pairs), std::span(row).last(pairs));
}

// The order of coordinates that rotated keys have.
bool interleaved_after(const Rotation& rotation) {
  return rotation.pairing == Pairing::interleaved && !rotation.deinterleaved_output;
}

}  // namespace

void transition(const Transition& change, const HeadsView& input, const HeadsView& output,
                std::span<const std::int64_t> input_slots, std::span<const std::int64_t> output_slots,
                std::span<const Position> from_ids, std::span<const Position> to_ids) {
  const Encoding& any = change.to != nullptr ? *change.to : *change.from;
  const Rotation& rotation = any.rotation();
  const bool raw_in = change.from == nullptr;
  const bool raw_out = change.to == nullptr;
  const bool interleaved_raw = rotation.pairing == Pairing::interleaved;
  const bool interleaved_in = raw_in ? interleaved_raw : interleaved_after(change.from->rotation());
  const bool interleaved_out = raw_out ? interleaved_raw : interleaved_after(change.to->rotation());
  const auto pairs = static_cast<std::size_t>(rotation.pairs());
  const std::size_t head_bytes = static_cast<std::size_t>(input.head_dim) * size_of(input.type);
  const RotateTokensFunction turn = rotate_tokens_function({input.type, interleaved_in, interleaved_out});
  std::vector<double> from(2 * pairs);
  std::vector<double> to(2 * pairs);
  std::vector<float> row(2 * pairs);
  std::vector<float> scratch(3 * pairs);
  std::vector<std::byte> token(head_bytes * static_cast<std::size_t>(input.heads));
  for (std::size_t t = 0; t < input_slots.size(); ++t) {
    row_of(change.from, from_ids[t], from);
    row_of(change.to, to_ids[t], to);
    for (std::size_t i = 0; i < pairs; ++i) {
      // (to) / (from) as complex numbers.
      const double c = from[i];
      const double s = from[pairs + i];
      const double size = c * c + s * s;
      row[i] = static_cast<float>((to[i] * c + to[pairs + i] * s) / size);
      row[pairs + i] = static_cast<float>((to[pairs + i] * c - to[i] * s) / size);
    }
    // Heads are brought together first: the output may be the input, and the layouts may differ.
    for (std::int64_t head = 0; head < input.heads; ++head) {
      std::memcpy(token.data() + static_cast<std::size_t>(head) * head_bytes,
                  token_at(input, input_slots[t], head * input.head_stride), head_bytes);
      std::memcpy(token_at(output, output_slots[t], head * output.head_stride),
                  token.data() + static_cast<std::size_t>(head) * head_bytes, head_bytes);
    }
    const float* row_of_token = row.data();
    turn({.in = token.data() + static_cast<std::size_t>(rotation.rotary_offset) * size_of(input.type),
          .out = token_at(output, output_slots[t], rotation.rotary_offset),
          .in_head_stride = static_cast<std::ptrdiff_t>(input.head_dim),
          .out_head_stride = output.head_stride,
          .heads = static_cast<std::size_t>(input.heads),
          .pairs = pairs,
          .rows = &row_of_token,
          .scratch = scratch.data()});
  }
}

}  // namespace locus
