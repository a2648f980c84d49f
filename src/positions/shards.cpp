// SPDX-License-Identifier: Apache-2.0
// One sequence split over the ranks of context parallelism. The ranks of 8 tokens on 2 ranks:
//   contiguous 0 0 0 0 1 1 1 1     striped 0 1 0 1 0 1 0 1     zigzag 0 0 1 1 1 1 0 0
#include "positions/checks.h"

namespace locus::positions {

namespace {

/// Returns the tokens per rank. Error: tokens that do not divide evenly.
std::int64_t share(ShardKind kind, std::int64_t tokens, std::int64_t ranks) {
  require_at_least("shard.tokens", tokens, 1);
  require_at_least("shard.ranks", ranks, 1);
  const std::int64_t pieces_per_rank = kind == ShardKind::zigzag ? 2 : 1;
  require(tokens % ranks == 0 && tokens / ranks % pieces_per_rank == 0, "shard.tokens must be a multiple of ",
          pieces_per_rank == 2 ? "twice " : "", "ranks (", ranks, "), got ", tokens);
  return tokens / ranks;
}

/// Returns the id of token `token` of the `per_rank` tokens of `rank`.
Position id_of(ShardKind kind, std::int64_t per_rank, std::int64_t ranks, std::int64_t rank, std::int64_t token) {
  switch (kind) {
    case ShardKind::contiguous:
      return rank * per_rank + token;
    case ShardKind::striped:
      return rank + token * ranks;
    case ShardKind::zigzag: {
      const std::int64_t piece = per_rank / 2;
      return token < piece ? rank * piece + token : (2 * ranks - 1 - rank) * piece + (token - piece);
    }
  }
  fail("shard.kind must be contiguous, striped or zigzag, got ", static_cast<int>(kind));
}

}  // namespace

PositionIds shard(ShardKind kind, std::int64_t tokens, std::int64_t ranks, std::int64_t rank) {
  const std::int64_t per_rank = share(kind, tokens, ranks);
  require(rank >= 0 && rank < ranks, "shard.rank must be at least 0 and below ranks (", ranks, "), got ", rank);
  PositionIds result = make_ids("shard", 1, 1, per_rank);
  for (std::int64_t token = 0; token < per_rank; ++token) {
    result.ids[static_cast<std::size_t>(token)] = id_of(kind, per_rank, ranks, rank, token);
  }
  return result;
}

PositionIds shards(ShardKind kind, std::int64_t tokens, std::int64_t ranks) {
  const std::int64_t per_rank = share(kind, tokens, ranks);
  PositionIds result = make_ids("shards", 1, ranks, per_rank);
  std::size_t slot = 0;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    for (std::int64_t token = 0; token < per_rank; ++token, ++slot) {
      result.ids[slot] = id_of(kind, per_rank, ranks, rank, token);
    }
  }
  return result;
}

}  // namespace locus::positions
