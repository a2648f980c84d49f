// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "locus/positions.h"

namespace locus::positions {
namespace {

using Ids = std::vector<Position>;

TEST(Sequence, PrefillCountsFromStart) {
  const PositionIds plan = prefill(4);
  EXPECT_EQ(plan.axes, 1);
  EXPECT_EQ(plan.batch, 1);
  EXPECT_EQ(plan.tokens, 4);
  EXPECT_EQ(plan.ids, (Ids{0, 1, 2, 3}));
  EXPECT_EQ(prefill(2, 100).ids, (Ids{100, 101}));
}

TEST(Sequence, DecodeContinuesThePrefix) {
  EXPECT_EQ(decode(12, 3).ids, (Ids{12, 13, 14}));
  EXPECT_EQ(decode(0, 1).ids, (Ids{0}));
}

TEST(Sequence, ZeroTokensAreNoIds) {
  EXPECT_EQ(prefill(0).tokens, 0);
  EXPECT_TRUE(prefill(0).ids.empty());
  EXPECT_TRUE(decode(7, 0).ids.empty());
}

TEST(Sequence, LastIdMayBeTheLargestOf64Bits) {
  constexpr Position largest = std::numeric_limits<Position>::max();
  EXPECT_EQ(decode(largest - 1, 2).ids, (Ids{largest - 1, largest}));
}

RC_GTEST_PROP(Sequence, ChunksJoinToThePrefill, ()) {
  const auto cut = *rc::gen::inRange<std::int64_t>(0, 50);
  const auto rest = *rc::gen::inRange<std::int64_t>(0, 50);
  Ids joined = prefill(cut).ids;
  const Ids more = decode(cut, rest).ids;
  joined.insert(joined.end(), more.begin(), more.end());
  RC_ASSERT(joined == prefill(cut + rest).ids);
}

}  // namespace
}  // namespace locus::positions
