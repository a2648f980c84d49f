// SPDX-License-Identifier: Apache-2.0
// The query_key kernel: rotates queries and keys by their positions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "locus/element.h"
#include "locus/encoding.h"
#include "locus/executor.h"
#include "locus/position_ids.h"

namespace locus {

/// The memory layout of the heads of queries or keys. Element (b, t, h, j) is at
/// `data + b * batch_stride + t * token_stride + h * head_stride + j`, with strides in elements.
///
///     [tokens, heads, dim]   token_stride = heads * dim   head_stride = dim
///     [heads, tokens, dim]   token_stride = dim           head_stride = tokens * dim
struct HeadsView {
  void* data = nullptr;
  ElementType type = ElementType::float32;
  std::int64_t batch = 1;
  std::int64_t tokens = 0;
  std::int64_t heads = 1;
  std::int64_t head_dim = 0;
  std::int64_t batch_stride = 0;
  std::int64_t token_stride = 0;
  std::int64_t head_stride = 0;
};

/// Returns a view of a contiguous array by its axes: "bthd", "bhtd", "thd", "htd" or "td", with extents in that
/// order.
/// Error: other axes, another number of extents.
HeadsView heads_view(void* data, ElementType type, std::string_view axes, std::span<const std::int64_t> extents);

/// inverse negates the angles and keeps the magnitude: the backward pass of forward.
enum class Direction : std::uint8_t { forward, inverse };

/// Where a rotation reads and where it writes: one place, or two that do not overlap.
struct RotateViews {
  HeadsView input;
  HeadsView output;
};

/// Token t is written to token `slots[t]` of `cache`, in each batch row.
struct CacheSlots {
  HeadsView cache;
  std::span<const std::int64_t> slots;
};

/// Rotates `views.input` into `views.output` and copies the coordinates that are not rotated; or rotates one view in
/// place. Splits large calls over the executor, if there is one.
/// With a polar encoding (polar.h) and an input of the width before it, makes the heads polar first.
/// Error: a site other than query_key, shapes that do not match, ids out of range. Nothing is written then.
/// Range: `ids` has one batch row, or as many as the view, and as many axes as the encoding.
/// Accuracy: computes in float32 (float64 for float64), within 2 float32 roundings of the exact product; then one
/// rounding to the element type.
/// Cost: one pass over the memory. Rows of low positions come from the encoding's table, others are computed.
void rotate(const Encoding& encoding, const RotateViews& views, const PositionIds& ids, Role role = Role::query,
            Direction direction = Direction::forward, Executor* executor = nullptr);
void rotate(const Encoding& encoding, const HeadsView& view, const PositionIds& ids, Role role = Role::query,
            Direction direction = Direction::forward, Executor* executor = nullptr);

/// Rotates queries and keys in one call, in place. Their head counts may differ (grouped queries).
void rotate_query_key(const Encoding& encoding, const HeadsView& query, const HeadsView& key, const PositionIds& ids,
                      Direction direction = Direction::forward, Executor* executor = nullptr);

/// Rotates keys into the slots of a cache.
/// Error: as rotate(), and slots that repeat or are outside the cache.
void rotate_into(const Encoding& encoding, const HeadsView& input, const CacheSlots& place, const PositionIds& ids,
                 Role role = Role::key, Executor* executor = nullptr);

/// Moves rotated keys by `deltas` positions (one per token, shaped like ids), in place. The magnitude does not
/// change.
/// Error: as rotate(), and encodings whose ids name cells of a grid.
/// Accuracy: the key at its old position plus delta, with one more rounding.
void shift(const Encoding& encoding, const HeadsView& view, const PositionIds& deltas, Role role = Role::key,
           Executor* executor = nullptr);

/// Returns the SIMD instruction set that the kernels use on this machine, e.g. "AVX2".
std::string_view simd_target();

}  // namespace locus
