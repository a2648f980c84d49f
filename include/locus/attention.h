// SPDX-License-Identifier: Apache-2.0
// Fused attention: softmax(scale q.k + position term, over the visible keys) v, without a queries x keys matrix.
//
// Queries and keys must already be rotated (rotate.h). Encodings of the sites score and relative_key act here. Masks
// and positions are independent: ids decide what a key adds to a score, the mask decides whether the key is visible.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "locus/encoding.h"
#include "locus/executor.h"
#include "locus/position_ids.h"
#include "locus/rotate.h"

namespace locus {

/// Which keys a query sees: those that satisfy every condition. A token's `place` is its id or, with by_index, its
/// index within the document, where the last query is aligned with the last key. Use by_index where ids repeat
/// (images, trees).
struct Mask {
  bool causal = false;      ///< key place <= query place
  bool by_index = false;    ///< places are indices, not ids
  std::int64_t prefix = 0;  ///< with causal: every query sees the keys at places 0 to prefix - 1
  std::int64_t window = 0;  ///< unless 0: |query place - key place| < window
  std::int64_t sinks = 0;   ///< with window: keys at places 0 to sinks - 1 stay visible outside it

  std::span<const std::uint8_t> keys = {};   ///< 0 for padding: [keys] or [batch, keys]
  std::span<const std::uint8_t> pairs = {};  ///< 0 for masked: [queries, keys] or [batch, queries, keys]
  /// Any other condition, by batch row, query head and indices. Slow; called from several threads.
  std::function<bool(std::int64_t batch, std::int64_t head, std::int64_t query, std::int64_t key)> custom = {};
};

/// The inputs and outputs of one attention call. Views share batch, head_dim and type. Query and output have the same
/// number of heads, a multiple of the key heads (query head h uses key head h / group). float32, bfloat16 and float16
/// compute in float32, float64 in double (slowly). Values of masked keys must be finite, except padding at the ends
/// of a row.
struct AttentionCall {
  HeadsView query, key, value, output;
  const Encoding* encoding = nullptr;

  /// One row, or one per batch row. Empty: keys count 0, 1, ..., and the last query has the id of the last key.
  std::span<const Position> query_ids = {}, key_ids = {};
  Mask mask = {};
  /// Packed documents: boundaries 0, l0, l0 + l1, ..., tokens, for queries and for keys. A query sees only its own
  /// document.
  std::span<const std::int64_t> query_boundaries = {}, key_boundaries = {};

  /// What tokens bring to the score (ScoreBias::token_numbers): [batch, tokens, query heads] with that many numbers, of
  /// float32 or, for long running sums, float64.
  HeadsView query_numbers = {}, key_numbers = {};

  /// Absent: the scheme's softmax scale, else 1 / sqrt(head_dim) times the softmax_scale_factor of a rotation.
  std::optional<double> scale = {};
  double scale_factor = 1;                      ///< multiplies `scale`
  double soft_cap = 0;                          ///< unless 0: s becomes cap tanh(s / cap), before a score bias is added
  std::span<const float> sink_logits = {};      ///< one per query head: counts in the softmax sum, has no value
  float* log_sum_exp = nullptr;                 ///< [batch, heads, queries]: ln of the sum of e^score, with the sink
  std::span<const std::int64_t> rows_wanted{};  ///< queries whose probabilities to store
  float* probabilities = nullptr;               ///< [batch, heads, rows_wanted, keys]

  bool skip_irrelevant_blocks = true;
  Executor* executor = nullptr;
};

/// Tiles of queries x keys with visible pairs: how many were computed, and how many were skipped because a decaying
/// bias made their weight negligible.
struct AttentionWork {
  std::int64_t computed = 0;
  std::int64_t skipped = 0;
};

/// Computes attention. A query that sees no key gets zeros and, without a sink, a log_sum_exp of -infinity. The
/// result has the same bits for any number of threads.
/// Error: shapes, ids, masks or boundaries that do not match. They are checked first; nothing is written then.
/// Range: head_dim from 1 to 65536, ids from -max_position to max_position and inside the encoding's range.
///
/// Accuracy before the output is rounded; u = 2^-24 (float64: 2^-53), d = head_dim, n = keys, v = the largest
/// |value|, s = the largest, over the visible keys, sum of the absolute values of the terms that make up the score:
///   output       (2 (d + 16) s + 4 n + 16) u v    plus 2^-24 v where blocks are skipped
///   log_sum_exp  ((d + 16) s + n + 16) u + |lse| 2^-24 + 2^-25
/// Skipped keys together hold less than 2^-25 of a query's weight.
///
/// Cost: O(visible tiles x head_dim) time; O((queries + keys) x head_dim) memory per thread beyond the call's own.
AttentionWork attend(const AttentionCall& call);

/// Returns the running sums of numbers [batch, tokens, heads, n] along the tokens, in that order: what query_numbers
/// and key_numbers hold if tokens bring gates. `before` (empty: zeros) holds the sums before the first token, [batch,
/// heads, n]; pass the last row of the previous chunk to go on from it.
/// Error: `before` of another size.
std::vector<double> running_sums(const HeadsView& numbers, std::span<const double> before = {});

/// The backward pass of running_sums: turns the gradients of the sums, [batch, tokens, heads, n], into those of the
/// numbers, in place. Gradients of query_numbers and key_numbers of the same tokens are added up first.
void running_sums_backward(std::span<double> gradients, const HeadsView& numbers);

/// Attention over a subset of the keys, with its log-sum-exp [batch, heads, queries].
struct PartialAttention {
  HeadsView output;
  const float* log_sum_exp = nullptr;
};

/// Combines attention over disjoint shards of keys into attention over all of them. `output` may be one of the parts.
/// Give sink_logits to one shard only.
/// Error: no parts, a part without log_sum_exp, types or extents that differ.
/// Accuracy: adds one rounding and (2 |lse| + 4) 2^-24 of the largest value to the errors of the parts.
/// Cost: one pass over all parts.
void merge(std::span<const PartialAttention> parts, const HeadsView& output, float* log_sum_exp = nullptr);

}  // namespace locus
