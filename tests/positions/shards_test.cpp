// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "locus/positions.h"

namespace locus::positions {
namespace {

using Ids = std::vector<Position>;
constexpr ShardKind all_kinds[] = {ShardKind::contiguous, ShardKind::striped, ShardKind::zigzag};

TEST(Shards, TwelveTokensOnThreeRanks) {
  EXPECT_EQ(shard(ShardKind::contiguous, 12, 3, 1).ids, (Ids{4, 5, 6, 7}));
  EXPECT_EQ(shard(ShardKind::striped, 12, 3, 1).ids, (Ids{1, 4, 7, 10}));
  EXPECT_EQ(shard(ShardKind::zigzag, 12, 3, 0).ids, (Ids{0, 1, 10, 11}));
  EXPECT_EQ(shard(ShardKind::zigzag, 12, 3, 1).ids, (Ids{2, 3, 8, 9}));
  EXPECT_EQ(shard(ShardKind::zigzag, 12, 3, 2).ids, (Ids{4, 5, 6, 7}));
}

TEST(Shards, AllRanksAreRows) {
  const PositionIds plan = shards(ShardKind::striped, 6, 2);
  EXPECT_EQ(plan.batch, 2);
  EXPECT_EQ(plan.tokens, 3);
  EXPECT_EQ(plan.ids, (Ids{0, 2, 4, 1, 3, 5}));
}

TEST(Shards, OneRankHoldsAll) {
  for (const ShardKind kind : all_kinds) EXPECT_EQ(shard(kind, 4, 1, 0).ids, (Ids{0, 1, 2, 3}));
}

TEST(Shards, AFewTokensOfAnEnormousSequence) {
  constexpr std::int64_t ranks = std::int64_t{1} << 61;
  EXPECT_EQ(shard(ShardKind::zigzag, 2 * ranks, ranks, 1).ids, (Ids{1, 2 * ranks - 2}));
}

RC_GTEST_PROP(Shards, UnionIsTheSequence, ()) {
  const ShardKind kind = *rc::gen::elementOf(std::vector<ShardKind>(std::begin(all_kinds), std::end(all_kinds)));
  const auto ranks = *rc::gen::inRange<std::int64_t>(1, 9);
  const std::int64_t tokens = 2 * ranks * *rc::gen::inRange<std::int64_t>(1, 9);
  Ids joined;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const Ids part = shard(kind, tokens, ranks, rank).ids;
    RC_ASSERT(std::is_sorted(part.begin(), part.end()));
    RC_ASSERT(static_cast<std::int64_t>(part.size()) == tokens / ranks);
    joined.insert(joined.end(), part.begin(), part.end());
  }
  RC_ASSERT(shards(kind, tokens, ranks).ids == joined);
  std::sort(joined.begin(), joined.end());
  RC_ASSERT(joined == prefill(tokens).ids);
}

// Under a causal mask the token at position p attends to p + 1 keys.
RC_GTEST_PROP(Shards, ZigzagBalancesCausalWork, ()) {
  const auto ranks = *rc::gen::inRange<std::int64_t>(1, 9);
  const std::int64_t tokens = 2 * ranks * *rc::gen::inRange<std::int64_t>(1, 9);
  const std::int64_t fair = tokens * (tokens + 1) / 2 / ranks;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    std::int64_t work = 0;
    for (const Position id : shard(ShardKind::zigzag, tokens, ranks, rank).ids) work += id + 1;
    RC_ASSERT(work == fair);
  }
}

}  // namespace
}  // namespace locus::positions
