// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "locus/document_shards.h"
#include "locus/error.h"

namespace locus::positions {
namespace {

using Ints = std::vector<std::int64_t>;
constexpr ShardKind kinds_of_shards[] = {ShardKind::contiguous, ShardKind::striped, ShardKind::zigzag};

TEST(DocumentShards, ZigzagRestartsInEveryDocument) {
  const DocumentShard shard = document_shard(ShardKind::zigzag, Ints{7, 4}, 2, 0);
  EXPECT_EQ(shard.ids.ids, (Ints{0, 1, 6, 7, 0, 3}));
  EXPECT_EQ(shard.tokens, (Ints{0, 1, 6, -1, 7, 10}));
  EXPECT_EQ(shard.slots, (Ints{0, 1, 6, 7, 8, 11}));
  EXPECT_EQ(shard.mask, (std::vector<std::uint8_t>{1, 1, 1, 0, 1, 1}));
  EXPECT_EQ(shard.pieces, (std::vector<Piece>{{0, 0, 2, 0, 1}, {0, 2, 1, 6, 1}, {1, 4, 1, 0, 1}, {1, 5, 1, 3, 1}}));
}

TEST(DocumentShards, PiecesInTheMiddleAreOne) {
  const DocumentShard shard = document_shard(ShardKind::zigzag, Ints{7, 4}, 2, 1);
  EXPECT_EQ(shard.tokens, (Ints{2, 3, 4, 5, 8, 9}));
  EXPECT_EQ(shard.pieces, (std::vector<Piece>{{0, 0, 4, 2, 1}, {1, 4, 2, 1, 1}}));
}

TEST(DocumentShards, UnevenPiecesNeedNoPadding) {
  EXPECT_EQ(document_shard(ShardKind::zigzag, Ints{7}, 2, 0, Remainder::uneven).tokens, (Ints{0, 1, 6}));
  EXPECT_EQ(document_shard(ShardKind::zigzag, Ints{7}, 2, 1, Remainder::uneven).tokens, (Ints{2, 3, 4, 5}));
  EXPECT_EQ(document_shard(ShardKind::contiguous, Ints{2, 3}, 2, 1, Remainder::uneven).tokens, (Ints{1, 4}));
  EXPECT_TRUE(document_shard(ShardKind::contiguous, Ints{1}, 2, 1, Remainder::uneven).pieces.empty());
}

// A plan of 3 axes whose ids say which axis, row and token they are of.
TEST(DocumentShards, EveryAxisIsCutAlongTheTokens) {
  PositionIds plan{3, 2, 11, {}};
  for (Position axis = 0; axis < 3; ++axis) {
    for (Position row = 0; row < 2; ++row) {
      for (Position token = 0; token < 11; ++token) plan.ids.push_back(1000 * axis + 100 * row + token);
    }
  }
  const DocumentShard shard = document_shard(ShardKind::zigzag, Ints{7, 4}, 2, 0);
  const PositionIds part = cut(plan, shard);
  EXPECT_EQ(part.axes, 3);
  EXPECT_EQ(part.batch, 2);
  EXPECT_EQ(part.tokens, 6);
  ASSERT_EQ(part.ids.size(), 36U);
  for (std::size_t row = 0; row < 6; ++row) {
    const Position first = 1000 * static_cast<Position>(row / 2) + 100 * static_cast<Position>(row % 2);
    const Ints got(part.ids.begin() + static_cast<std::ptrdiff_t>(6 * row),
                   part.ids.begin() + static_cast<std::ptrdiff_t>(6 * row + 6));
    EXPECT_EQ(got, (Ints{first, first + 1, first + 6, 0, first + 7, first + 10})) << row;
  }
}

TEST(DocumentShards, RefusesBadInput) {
  const auto message = [](const auto& run) -> std::string {
    try {
      run();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([] {
              document_shard(ShardKind::zigzag, Ints{3, -1}, 2, 0);
            }),
            "document_shard.lengths[1] must be at least 0, got -1");
  EXPECT_EQ(message([] { document_shard(ShardKind::zigzag, Ints{3}, 2, 2); }),
            "document_shard.rank must be at least 0 and below ranks (2), got 2");
  EXPECT_EQ(message([] { cut(prefill(3), document_shard(ShardKind::striped, Ints{4}, 2, 1)); }),
            "cut.shard must hold tokens of a plan of 3 tokens, got token 3");
  EXPECT_NE(message([] { document_shard(ShardKind::zigzag, Ints{1}, 0, 0); }), "");
}

// A rank of an enormous run sees only its own tokens.
TEST(DocumentShards, CostsOnlyTheOwnTokens) {
  constexpr std::int64_t ranks = std::int64_t{1} << 32;
  const DocumentShard shard = document_shard(ShardKind::zigzag, Ints{2 * ranks, 4 * ranks - 1}, ranks, 0);
  EXPECT_EQ(shard.tokens, (Ints{0, 2 * ranks - 1, 2 * ranks, 2 * ranks + 1, 6 * ranks - 2, -1}));
}

struct Cutting {
  ShardKind kind;
  Remainder remainder;
  std::int64_t ranks;
  Ints lengths;
};

Cutting any_cutting() {
  return {*rc::gen::elementOf(std::vector<ShardKind>(std::begin(kinds_of_shards), std::end(kinds_of_shards))),
          *rc::gen::element(Remainder::padded, Remainder::uneven), *rc::gen::inRange<std::int64_t>(1, 7),
          *rc::gen::container<Ints>(rc::gen::inRange<std::int64_t>(0, 40))};
}

RC_GTEST_PROP(DocumentShards, EveryTokenIsHeldOnce, ()) {
  const Cutting c = any_cutting();
  Ints held;
  std::int64_t all = 0;
  for (const std::int64_t length : c.lengths) all += length;
  for (std::int64_t rank = 0; rank < c.ranks; ++rank) {
    const DocumentShard shard = document_shard(c.kind, c.lengths, c.ranks, rank, c.remainder);
    if (c.remainder == Remainder::padded) {
      RC_ASSERT(shard.tokens.size() == document_shard(c.kind, c.lengths, c.ranks, 0).tokens.size());
    }
    for (std::size_t i = 0; i < shard.tokens.size(); ++i) {
      RC_ASSERT((shard.tokens[i] >= 0) == (shard.mask[i] == 1));
      if (shard.tokens[i] >= 0) held.push_back(shard.tokens[i]);
    }
  }
  std::sort(held.begin(), held.end());
  RC_ASSERT(held == prefill(all).ids);
}

// Ids are those of packed(), and pieces say the same as the list of tokens.
RC_GTEST_PROP(DocumentShards, IdsAndPiecesDescribeTheTokens, ()) {
  const Cutting c = any_cutting();
  const Ints whole = packed(c.lengths).ids;
  Ints starts{0};
  for (const std::int64_t length : c.lengths) starts.push_back(starts.back() + length);
  for (std::int64_t rank = 0; rank < c.ranks; ++rank) {
    const DocumentShard shard = document_shard(c.kind, c.lengths, c.ranks, rank, c.remainder);
    for (std::size_t i = 0; i < shard.tokens.size(); ++i) {
      if (shard.tokens[i] >= 0) RC_ASSERT(shard.ids.ids[i] == whole[static_cast<std::size_t>(shard.tokens[i])]);
    }
    Ints listed(shard.tokens.size(), -1);
    for (const Piece& piece : shard.pieces) {
      RC_ASSERT(piece.tokens > 0);
      for (std::int64_t i = 0; i < piece.tokens; ++i) {
        listed[static_cast<std::size_t>(piece.first + i)] =
            starts[static_cast<std::size_t>(piece.document)] + piece.place + i * piece.step;
      }
    }
    RC_ASSERT(listed == shard.tokens);
  }
}

}  // namespace
}  // namespace locus::positions
