// SPDX-License-Identifier: Apache-2.0
// The planner of context parallelism: packed documents over several ranks, each document cut by itself.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "locus/position_ids.h"
#include "locus/positions.h"

namespace locus::positions {

/// Shard tokens first, first + 1, ..., first + tokens - 1 are tokens place, place + step, ... of a document.
struct Piece {
  std::int64_t document = 0;
  std::int64_t first = 0;
  std::int64_t tokens = 0;
  std::int64_t place = 0;
  std::int64_t step = 1;

  bool operator==(const Piece&) const = default;
};

/// What one rank holds of packed documents, one entry per token, documents in order.
struct DocumentShard {
  PositionIds ids;                   ///< counted from 0 in each document; padding counts on
  std::vector<std::int64_t> tokens;  ///< index in the packed row; -1 for padding
  std::vector<std::int64_t> slots;   ///< index in the padded row, where each document is followed by its padding
  std::vector<std::uint8_t> mask;    ///< 1 for a token, 0 for padding
  std::vector<Piece> pieces;         ///< the runs of tokens; padding is in none of them
  std::int64_t ranks = 1;
  std::int64_t rank = 0;
  std::uint64_t plan = 0;  ///< a hash of kind, lengths, ranks and remainder: the same on ranks that planned the same
};

/// What happens to a document whose length is no multiple of the number of its pieces. padded: tokens are added at its
/// end, so that every rank holds the same number. uneven: the first pieces have one token more.
enum class Remainder : std::uint8_t { padded, uneven };

/// The shard of `rank`: each document is cut by itself, as shard() cuts a sequence.
/// Error: a length below 0, a rank out of range.
/// Cost: O(own tokens + documents), whatever the other ranks hold.
DocumentShard document_shard(ShardKind kind, std::span<const std::int64_t> lengths, std::int64_t ranks,
                             std::int64_t rank, Remainder remainder = Remainder::padded);

/// The columns of a plan for the packed row that a shard holds, on every axis and in every row (M-RoPE: [3, batch,
/// tokens] is cut along the tokens). Padding gets id 0.
/// Error: a shard of more tokens than the plan has.
PositionIds cut(const PositionIds& plan, const DocumentShard& shard);

}  // namespace locus::positions
