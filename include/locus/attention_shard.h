// SPDX-License-Identifier: Apache-2.0
// Attention over some of the keys of a longer context. merge() combines the results; locus/mpi/ring_attention.h does it
// over the ranks of a cluster.
#pragma once

#include <span>

#include "locus/attention_backward.h"

namespace locus {

/// What a call cannot know of tokens that it does not see.
struct ShardOfKeys {
  /// The places of the tokens in the whole, which the mask compares in place of ids; one row, or one per batch row.
  /// Empty: the mask compares ids.
  std::span<const Position> query_places = {}, key_places = {};
  /// [batch, heads, queries], for an encoding that counts gates (cope). attend_shard(): what the keys after those of this
  /// call have counted; it adds the gates of its own, so visit the shards from the last key to the first.
  /// attend_backward_shard(): what this call's keys and those after them count; it takes off its own, so start from what
  /// count_gates_shard() of all shards gave and visit them from the first key to the last.
  double* gate_counts = nullptr;
  /// [batch, heads, queries], for attend_backward_shard() with such an encoding: the sum of the gradients of the counts of
  /// earlier keys, on which the gates of this call depend. It adds its own; the first shard starts from 0.
  double* count_gradients = nullptr;
};

/// attend() over a shard.
/// Error: as attend(); places that do not match, or together with mask.by_index; gate_counts with rows_wanted.
AttentionWork attend_shard(const AttentionCall& call, const ShardOfKeys& shard);

/// Adds the gates of this shard's keys to shard.gate_counts, in double. The shards may come in any order. Values and output
/// are checked but not read or written.
/// Error: as attend_shard(); an encoding that counts no gates; no gate_counts.
/// Cost: that of the products q.k; no memory beyond a row of scores.
void count_gates_shard(const AttentionCall& call, const ShardOfKeys& shard);

/// attend_backward() over a shard: `call.forward` has the output and the log_sum_exp over all keys, and the gradients are
/// the shares of this shard's keys. Add up those of the queries and of learned weights over the shards. Give
/// forward.sink_logits to one shard only.
/// Error: as attend_backward(); float64; an encoding that counts gates (cope) without gate_counts and count_gradients.
AttentionWork attend_backward_shard(const AttentionGradientCall& call, const ShardOfKeys& shard);

}  // namespace locus
