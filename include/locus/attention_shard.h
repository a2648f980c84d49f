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
  /// [batch, heads, queries], for an encoding that counts gates (cope): what keys after those of this call have
  /// counted. attend_shard() adds the gates of its own keys, so visit the shards from the last key to the first.
  double* gate_counts = nullptr;
};

/// attend() over a shard.
/// Error: as attend(); places that do not match, or together with mask.by_index; gate_counts with rows_wanted.
AttentionWork attend_shard(const AttentionCall& call, const ShardOfKeys& shard);

/// attend_backward() over a shard: `call.forward` has the output and the log_sum_exp over all keys, and the gradients are
/// the shares of this shard's keys. Add up those of the queries and of learned weights over the shards. Give
/// forward.sink_logits to one shard only.
/// Error: as attend_backward(), and float64, counted rows (cope) and remapped offsets, whose weights are recomputed from
/// all keys.
AttentionWork attend_backward_shard(const AttentionGradientCall& call, const ShardOfKeys& shard);

}  // namespace locus
