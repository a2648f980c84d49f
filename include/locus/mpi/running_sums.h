// SPDX-License-Identifier: Apache-2.0
// Running sums over documents that are split among ranks: what query_numbers and key_numbers of RingCall hold if tokens
// bring gates (forget_gate).
#pragma once

#include <span>
#include <vector>

#include "locus/mpi/ring_attention.h"

namespace locus::mpi {

/// The numbers of this rank's tokens, in the order of its shard. Everything but numbers and shard must be the same on every
/// rank.
struct ShardNumbers {
  MPI_Comm communicator = MPI_COMM_NULL;
  const positions::DocumentShard* shard = nullptr;
  HeadsView numbers;  ///< [batch, own tokens, heads, n], of any element type
  double seconds_to_wait = 300;
};

/// Returns the running sums [batch, own tokens, heads, n] along each document, over the tokens of all ranks; 0 for padding.
/// Collective.
/// Error: shards that are striped; numbers that do not match the shard; ranks that differ in batch, heads or n or that
/// planned differently. Every rank throws then. RankLost: as attend().
/// Accuracy: (tokens + pieces) 2^-53 of the sum of absolute values. Timing changes no bit.
/// Cost: one pass; batch x heads x n + 2 numbers per piece of all ranks are gathered.
std::vector<double> running_sums(const ShardNumbers& own);

/// The backward pass: turns the gradients of the sums, [batch, own tokens, heads, n], into those of the numbers, in place:
/// each becomes the sum of those of its own and later tokens of the document. Collective; see running_sums().
void running_sums_backward(std::span<double> gradients, const ShardNumbers& own);

}  // namespace locus::mpi
