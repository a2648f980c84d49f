// SPDX-License-Identifier: Apache-2.0
// One piece of this rank's queries against one piece of a block of keys: a call of attend().
#pragma once

#include <vector>

#include "locus/attention_shard.h"
#include "mpi/block.h"
#include "mpi/schedule.h"

namespace locus::mpi {

/// This rank's side of every pair, in float32.
struct OwnQueries {
  const RingCall& call;
  HeadsView query;                ///< float32
  std::span<const Position> ids;  ///< of the own tokens
  std::int64_t all_tokens = 0;    ///< of the packed row
  Executor* executor = nullptr;
};

/// The tokens [first, first + count) of a view.
HeadsView part_of(HeadsView view, std::int64_t first, std::int64_t count);

/// The call of a pair without its output, and the numbers that it refers to. It must not be moved.
class PairCall {
 public:
  PairCall(const OwnQueries& own, const positions::Piece& queries, Block& block, const positions::Piece& keys);
  PairCall(const PairCall&) = delete;
  PairCall& operator=(const PairCall&) = delete;

  AttentionCall call;
  ShardOfKeys shard;

 private:
  void take_mask(const OwnQueries& own, const positions::Piece& queries, const Block& block,
                 const positions::Piece& keys);

  std::vector<Position> query_places_, key_places_;
  std::vector<std::uint8_t> masked_;
};

/// The pieces of a block that belong to a document, in their order.
std::span<const positions::Piece> pieces_of(std::span<const positions::Piece> pieces, std::int64_t document);

}  // namespace locus::mpi
