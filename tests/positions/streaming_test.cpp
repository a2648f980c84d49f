// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "locus/positions.h"

namespace locus::positions {
namespace {

using Ids = std::vector<Position>;
using Kept = std::vector<std::int64_t>;

// The example of the paper's section 3.2: 0-3 and 6-8 are cached while token 9 is decoded; their ids are 0-7.
TEST(Streaming, IdsAreSlotsOfTheCache) {
  const Streaming plan = streaming(10, 4, 4);
  EXPECT_EQ(plan.kept, (Kept{0, 1, 2, 3, 6, 7, 8, 9}));
  EXPECT_EQ(plan.ids.tokens, 8);
  EXPECT_EQ(plan.ids.ids, (Ids{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Streaming, EverythingStaysWhileItFits) {
  EXPECT_EQ(streaming(6, 2, 4).kept, (Kept{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(streaming(7, 2, 4).kept, (Kept{0, 1, 3, 4, 5, 6}));
  EXPECT_EQ(streaming(1, 2, 4).kept, (Kept{0}));
  EXPECT_TRUE(streaming(0, 2, 4).kept.empty());
}

TEST(Streaming, WithoutSinksAWindowSlides) { EXPECT_EQ(streaming(9, 0, 2).kept, (Kept{7, 8})); }

TEST(Streaming, EnormousCountsDoNotOverflow) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(streaming(3, largest, largest).kept, (Kept{0, 1, 2}));
  EXPECT_EQ(streaming(largest, 1, 2).kept, (Kept{0, largest - 2, largest - 1}));
}

RC_GTEST_PROP(Streaming, KeepsExactlySinksAndWindow, ()) {
  const auto seen = *rc::gen::inRange<std::int64_t>(0, 40);
  const auto sinks = *rc::gen::inRange<std::int64_t>(0, 12);
  const auto window = *rc::gen::inRange<std::int64_t>(1, 12);
  Kept expected;
  for (std::int64_t token = 0; token < seen; ++token) {
    if (token < sinks || token >= seen - window) expected.push_back(token);
  }
  const Streaming plan = streaming(seen, sinks, window);
  RC_ASSERT(plan.kept == expected);
  RC_ASSERT(plan.ids.ids.size() == expected.size());
  for (std::size_t slot = 0; slot < expected.size(); ++slot) {
    RC_ASSERT(plan.ids.ids[slot] == static_cast<Position>(slot));
  }
}

}  // namespace
}  // namespace locus::positions
