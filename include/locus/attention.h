// SPDX-License-Identifier: Apache-2.0
// Fused attention: softmax(scale q.k + position term, over the visible keys) v, never holding queries x keys.
//
// Queries and keys come rotated already (rotate.h); encodings of the sites score and relative_key act in here. Masks
// are apart from positions: what a key adds to a score is a matter of ids, whether it is seen is a matter of the mask.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "locus/encoding.h"
#include "locus/executor.h"
#include "locus/position_ids.h"
#include "locus/rotate.h"

namespace locus {

/// Which keys a query sees: those that every condition allows. `place` is the id or, with by_index, the index inside
/// the document, the last query standing at the last key: use that where ids repeat (pictures, trees).
struct Mask {
  bool causal = false;      ///< key place <= query place
  bool by_index = false;    ///< places are indices, whatever the ids
  std::int64_t prefix = 0;  ///< with causal: keys at places 0 to prefix - 1 are seen by every query
  std::int64_t window = 0;  ///< unless 0: |query place - key place| < window
  std::int64_t sinks = 0;   ///< with window: keys at places 0 to sinks - 1 stay seen outside it

  std::span<const std::uint8_t> keys = {};   ///< 0 for padding: [keys] or [batch, keys]
  std::span<const std::uint8_t> pairs = {};  ///< 0 for unseen: [queries, keys] or [batch, queries, keys]
  /// Any other rule, by batch row, query head and indices; called from several threads, slow.
  std::function<bool(std::int64_t batch, std::int64_t head, std::int64_t query, std::int64_t key)> custom = {};
};

/// One call. Views share batch, head_dim and type; query and output have the same heads, a multiple of the key heads
/// (query head h uses key head h / group). float32, bfloat16 and float16 compute in float32, float64 in double
/// (slowly). Values of unseen keys must be finite, except padding at the ends of a row.
struct AttentionCall {
  HeadsView query, key, value, output;
  const Encoding* encoding = nullptr;

  /// One row, or one per batch row. Absent: 0, 1, ... for keys, and the last query at the last key.
  std::span<const Position> query_ids = {}, key_ids = {};
  Mask mask = {};
  /// Packed documents: boundaries 0, l0, l0 + l1, ..., tokens on both sides. A query sees its own document only.
  std::span<const std::int64_t> query_boundaries = {}, key_boundaries = {};

  /// Absent: the scheme's own, else 1 / sqrt(head_dim) times the softmax_scale_factor of a rotation encoding.
  std::optional<double> scale = {};
  double scale_factor = 1;                      ///< times the above
  double soft_cap = 0;                          ///< unless 0: s becomes cap tanh(s / cap), before a score bias is added
  std::span<const float> sink_logits = {};      ///< one per query head: takes part in the sum, has no value
  float* log_sum_exp = nullptr;                 ///< [batch, heads, queries]: ln of the sum of e^score, sink included
  std::span<const std::int64_t> rows_wanted{};  ///< queries whose probabilities are wanted
  float* probabilities = nullptr;               ///< [batch, heads, rows_wanted, keys]

  bool skip_irrelevant_blocks = true;
  Executor* executor = nullptr;
};

/// Tiles of queries x keys that the masks left: computed, and passed over because a falling bias made them irrelevant.
struct AttentionWork {
  std::int64_t computed = 0;
  std::int64_t skipped = 0;
};

/// Runs the call. A query that sees nothing gets zeros and, without a sink, -infinity. Memory beyond the call's own:
/// O((queries + keys) x head_dim) per thread. The result has the same bits for any number of threads.
///
/// Error bound before the output's own rounding; u = 2^-24 (float64: 2^-53), d = head_dim, n = keys, v = the largest
/// |value|, s = the largest over the seen keys of the sum of the absolute values whose plain sum is the score:
///   output       (2 (d + 16) s + 4 n + 16) u v    and 2^-24 v more where blocks are skipped
///   log_sum_exp  ((d + 16) s + n + 16) u + |lse| 2^-24    and 2^-25 more
/// Skipped keys hold together less than 2^-25 of a query's weight.
///
/// Shapes, ids and boundaries are checked first; on Error nothing is written.
AttentionWork attend(const AttentionCall& call);

/// The result over some of the keys, with its log-sum-exp [batch, heads, queries].
struct PartialAttention {
  HeadsView output;
  const float* log_sum_exp = nullptr;
};

/// Combines results over disjoint shards of keys into that over all of them; give sink_logits to one shard only.
/// Adds to the parts' errors one rounding and (2 |lse| + 4) 2^-24 of the largest value. `output` may be one of the
/// parts.
void merge(std::span<const PartialAttention> parts, const HeadsView& output, float* log_sum_exp = nullptr);

}  // namespace locus
