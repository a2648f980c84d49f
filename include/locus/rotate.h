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

/// Where the heads of queries or keys lie in memory. Element (b, t, h, j) is at
/// `data + b * batch_stride + t * token_stride + h * head_stride + j`, strides counted in elements.
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

/// A view of a contiguous array by its axes: "bthd", "bhtd", "thd", "htd" or "td", extents in that order.
HeadsView heads_view(void* data, ElementType type, std::string_view axes, std::span<const std::int64_t> extents);

/// inverse undoes the turn (angles negated, magnitude kept): the backward pass of forward.
enum class Direction : std::uint8_t { forward, inverse };

/// Rotates `input` into `output` (the same view rotates in place; otherwise they must not overlap), copying what is not
/// rotated. `ids` has one batch row, or one per batch row of the view, and as many axes as the encoding. Arithmetic in
/// float32 (float64 for float64): within 2 float32 roundings of the exact product, then one of the element type.
/// Shapes and ids are checked first; on Error nothing is written. Large calls are spread over the executor, if any.
void rotate(const Encoding& encoding, const HeadsView& input, const HeadsView& output, const PositionIds& ids,
            Role role = Role::query, Direction direction = Direction::forward, Executor* executor = nullptr);
void rotate(const Encoding& encoding, const HeadsView& view, const PositionIds& ids, Role role = Role::query,
            Direction direction = Direction::forward, Executor* executor = nullptr);

/// Queries and keys in one call, in place; their head counts may differ (grouped queries).
void rotate_query_key(const Encoding& encoding, const HeadsView& query, const HeadsView& key, const PositionIds& ids,
                      Direction direction = Direction::forward, Executor* executor = nullptr);

/// Rotates keys and appends them to a cache: token t of `input` lands in token `slots[t]` of `cache` (batch row by
/// batch row). Slots must be distinct and inside the cache.
void rotate_into(const Encoding& encoding, const HeadsView& input, const HeadsView& cache,
                 std::span<const std::int64_t> slots, const PositionIds& ids, Role role = Role::key,
                 Executor* executor = nullptr);

/// Moves keys that are rotated already by `deltas` positions (per token, shaped like ids), in place, with magnitude 1.
/// The result is the key at its old position plus delta, up to one more rounding.
void shift(const Encoding& encoding, const HeadsView& view, const PositionIds& deltas, Role role = Role::key,
           Executor* executor = nullptr);

/// The SIMD instructions that the kernels chose on this machine, e.g. "AVX2".
std::string_view simd_target();

}  // namespace locus
