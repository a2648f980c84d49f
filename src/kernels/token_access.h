// SPDX-License-Identifier: Apache-2.0
// Shared by the entry points of rotation: the address of a token, its ids, the order of its coordinates, and an
// unoptimised version in double.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/rotate_simd.h"
#include "locus/error.h"
#include "locus/rotate.h"
#include "positions/coordinates.h"

namespace locus {

// Less work than this does not justify another thread.
inline constexpr std::int64_t bytes_per_thread = std::int64_t{1} << 18;

struct Layout {
  bool interleaved_in;
  bool interleaved_out;
};

inline std::byte* at(const HeadsView& view, std::int64_t batch, std::int64_t token, std::int64_t head,
                     std::int64_t offset) {
  const std::int64_t index = batch * view.batch_stride + token * view.token_stride + head * view.head_stride + offset;
  return static_cast<std::byte*>(view.data) + index * static_cast<std::int64_t>(size_of(view.type));
}

inline std::int64_t bytes_per_token(const HeadsView& view) {
  return view.heads * view.head_dim * static_cast<std::int64_t>(size_of(view.type));
}

inline std::int64_t grain_of(std::int64_t token_bytes) {
  return std::max<std::int64_t>(1, bytes_per_thread / std::max<std::int64_t>(token_bytes, 1));
}

inline void check_ids(const HeadsView& view, const Rotation& rotation, const PositionIds& ids) {
  require(view.batch >= 0 && view.tokens >= 0 && view.heads >= 0, "rotate: extents must not be negative");
  require(view.head_dim == rotation.head_dim, "rotate: the encoding has head_dim ", rotation.head_dim, ", the tensor ",
          view.head_dim);
  require(!rotation.mix || view.heads % rotation.mix->heads == 0, "rotate: the encoding has ",
          rotation.mix ? rotation.mix->heads : 1, " key heads, and the tensor has ", view.heads,
          " heads: no multiple of them");
  require(ids.axes == rotation.axes, "rotate: the encoding needs ", rotation.axes,
          " axes of position ids (time, height, width ...), got ", ids.axes);
  require(ids.batch == 1 || ids.batch == view.batch, "rotate: position ids must have 1 or ", view.batch,
          " batch rows, got ", ids.batch);
  require(ids.tokens == view.tokens, "rotate: the tensor has ", view.tokens, " tokens, the position ids ", ids.tokens);
  require(static_cast<std::int64_t>(ids.ids.size()) == ids.axes * ids.batch * ids.tokens, "rotate: position ids have ",
          ids.ids.size(), " values, their shape needs ", ids.axes * ids.batch * ids.tokens);
}

inline void rotate_token_double(const RotateTokens& token, const Layout& layout, const double* cos, const double* sin,
                                bool inverse) {
  const auto* in = static_cast<const double*>(token.in);
  auto* out = static_cast<double*>(token.out);
  for (std::size_t h = 0; h < token.heads; ++h, in += token.in_head_stride, out += token.out_head_stride) {
    for (std::size_t i = 0; i < token.pairs; ++i) {
      const double x = in[layout.interleaved_in ? 2 * i : i];
      const double y = in[layout.interleaved_in ? 2 * i + 1 : token.pairs + i];
      const double s = inverse ? -sin[i] : sin[i];
      out[layout.interleaved_out ? 2 * i : i] = x * cos[i] - y * s;
      out[layout.interleaved_out ? 2 * i + 1 : token.pairs + i] = x * s + y * cos[i];
    }
  }
}

// Calls `token(batch, token, ids of that token)` for each token of a range of batch x tokens. With ids of one axis it
// first calls `run(batch, token, ids from there on)`, which returns how many tokens it has processed; these are
// skipped.
template <class Run, class Function>
void for_tokens(const PositionIds& ids, std::int64_t begin, std::int64_t end, const Run& run, const Function& token) {
  const std::int64_t axis_stride = ids.batch * ids.tokens;
  std::array<Position, max_axes> axis_ids{};
  const std::span<const Position> token_ids = std::span(axis_ids).first(static_cast<std::size_t>(ids.axes));
  while (begin < end) {
    const std::int64_t batch = begin / ids.tokens;
    const std::int64_t first = begin % ids.tokens;
    const std::int64_t last = std::min(ids.tokens, first + end - begin);  // of this batch row
    const std::int64_t row = ids.batch == 1 ? 0 : batch * ids.tokens;
    for (std::int64_t t = first; t < last;) {
      const std::int64_t index = row + t;
      if (ids.axes == 1) {
        const std::int64_t taken = run(
            batch, t, std::span(ids.ids).subspan(static_cast<std::size_t>(index), static_cast<std::size_t>(last - t)));
        t += taken;
        if (taken > 0) continue;
      }
      for (std::int64_t axis = 0; axis < ids.axes; ++axis) {
        axis_ids[static_cast<std::size_t>(axis)] = ids.ids[static_cast<std::size_t>(axis * axis_stride + index)];
      }
      token(batch, t, token_ids);
      ++t;
    }
    begin += last - first;
  }
}

inline constexpr auto no_runs = [](std::int64_t, std::int64_t, std::span<const Position>) { return std::int64_t{0}; };

}  // namespace locus
