// SPDX-License-Identifier: Apache-2.0
// Attention over a context that is split among the ranks of an MPI communicator.
//
// Every rank holds the queries, keys and values of its tokens. Blocks of keys, values and their ids travel around the
// ring of ranks while each rank attends to the block that it has; the parts are merged by their log-sum-exp in float32,
// in the order of the rounds. So the result does not depend on timing, and a rank needs memory for its own tokens and
// two blocks of others: O(tokens / ranks).
#pragma once

// The C interface is enough.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <cstdint>
#include <optional>
#include <span>

#include "locus/attention.h"
#include "locus/attention_backward.h"
#include "locus/document_shards.h"
#include "locus/error.h"

namespace locus::mpi {

/// Thrown by a rank that waited for another one until the limit. The program cannot go on: end it by MPI_Abort.
class RankLost : public Error {
 public:
  using Error::Error;
};

/// What a rank brings: the tensors of its own tokens, in the order of its shard. Everything but tensors, ids and shard
/// must be the same on every rank. Queries and keys are rotated already, each rank its own (rotate.h).
struct RingCall {
  MPI_Comm communicator = MPI_COMM_NULL;
  /// Of every rank, from positions::document_shard with this communicator's size and rank. Tokens of padding get zeros.
  const positions::DocumentShard* shard = nullptr;
  /// One per own token, if others than those of the shard.
  std::span<const Position> ids = {};

  HeadsView query, key, value, output;
  const Encoding* encoding = nullptr;
  /// Places are ids or, with by_index, indices in the document. `keys` has a value per own token. `pairs` has a row per
  /// own token and a column per token of the packed row; `custom` gets indices in the packed row.
  Mask mask = {};
  HeadsView query_numbers = {}, key_numbers = {};  ///< running sums over the whole document (running_sums.h)

  std::optional<double> scale = {};
  double scale_factor = 1;
  double soft_cap = 0;
  std::span<const float> sink_logits = {};
  float* log_sum_exp = nullptr;  ///< [batch, heads, own tokens]

  /// Leave out blocks that a decaying bias makes negligible.
  bool skip_irrelevant_blocks = true;
  Executor* executor = nullptr;
  /// How long to wait for another rank before it is taken for dead.
  double seconds_to_wait = 300;
};

/// What a call did on this rank.
struct RingWork {
  AttentionWork tiles;
  std::int64_t rounds = 0;          ///< in which blocks moved, the same on every rank
  std::int64_t rounds_skipped = 0;  ///< that no rank needed, of ranks - 1
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_needed = 0;  ///< of the blocks of other ranks that this rank attended to
  double seconds_waiting = 0;     ///< for blocks that had not arrived when their turn came
  double seconds_working = 0;     ///< processor time of the calling thread, without waiting
};

/// Computes attention over all tokens of all ranks. Collective: every rank must call it.
///
/// A block is left out for a rank, and a round if no rank needs its blocks, where no query sees a key of it (causal mask,
/// window, other documents) or where a decaying bias (ALiBi) makes it negligible: with B the largest |q| |k| scale + bias
/// of the block and S the smallest score of a query with its own key, B + ln(all keys) < S - 26 ln 2. A block is forwarded
/// only while a later rank needs it.
///
/// Error: what attend() refuses; ranks whose shapes, types, masks, encodings or plans differ, or which hold the same
/// token: every rank throws then, and names the first rank that differs. RankLost: a rank that is silent for
/// seconds_to_wait.
/// Range: float32, bfloat16 and float16; every encoding. One that counts gates (cope) needs contiguous or zigzag shards of
/// at most 64 pieces per rank; its blocks are broadcast in the order of the keys.
/// Accuracy: within twice the bound of attend() over all keys, plus 2^-24 v for skipped blocks, plus
/// (2 |lse| + 2 ranks + 8) 2^-24 v for the merge. With one rank and one piece per document, the bits of attend().
/// Cost: the work of attend() divided by the ranks (zigzag balances a causal mask); (rounds) blocks sent and received
/// while it works. Setup: four small collectives, 56 bytes per piece (at most 64 pieces are told apart), ranks^2 bytes.
RingWork attend(const RingCall& call);

/// `forward` is the call that attend() ran, with its output and log_sum_exp; gradients are of the own tokens, with the
/// type of their tensors.
struct RingGradientCall {
  RingCall forward;
  HeadsView output_gradient;
  HeadsView query_gradient, key_gradient, value_gradient;
  HeadsView query_numbers_gradient = {}, key_numbers_gradient = {};  ///< of float64, or without data
  LearnedGradients learned = {};                                     ///< summed over all ranks, the same on each
};

/// The backward pass. Blocks travel as in attend(), and the gradients of a block's keys and values travel one round
/// behind it, summed in float32 on the way and sent home at the end. Encodings that count gates (cope) take two passes: a
/// ring that counts the gates of all keys that a query sees, then broadcasts from the first key to the last, after each of
/// which the gradients of the block are summed on its owner over a tree of the ranks that see it.
/// Error: as attend().
/// Accuracy: that of attend_backward() over all keys plus (2 ranks + 2) roundings of float32 in each sum.
/// Cost: as attend(), with twice the bytes (four times for 16-bit types). Gates are computed in double, which is slow.
RingWork attend_backward(const RingGradientCall& call);

}  // namespace locus::mpi
