// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "locus/positions.h"

namespace locus::positions {
namespace {

using Ids = std::vector<Position>;
using Lengths = std::vector<std::int64_t>;

TEST(Packing, ResetsPerDocument) {
  const PositionIds plan = packed(Lengths{3, 0, 1, 2});
  EXPECT_EQ(plan.batch, 1);
  EXPECT_EQ(plan.tokens, 6);
  EXPECT_EQ(plan.ids, (Ids{0, 1, 2, 0, 0, 1}));
}

TEST(Packing, FromBoundaries) {
  EXPECT_EQ(packed_from_cumulative(Lengths{0, 3, 3, 4, 6}).ids, (Ids{0, 1, 2, 0, 0, 1}));
  EXPECT_EQ(packed_from_cumulative(Lengths{0, 2}).ids, (Ids{0, 1}));
}

TEST(Packing, NoDocuments) {
  EXPECT_TRUE(packed(Lengths{}).ids.empty());
  EXPECT_TRUE(packed_from_cumulative(Lengths{0}).ids.empty());
}

RC_GTEST_PROP(Packing, EqualsSeparatePrefills, ()) {
  const auto lengths = *rc::gen::container<Lengths>(rc::gen::inRange<std::int64_t>(0, 20));
  Ids separate;
  Lengths boundaries{0};
  for (const std::int64_t length : lengths) {
    const Ids document = prefill(length).ids;
    separate.insert(separate.end(), document.begin(), document.end());
    boundaries.push_back(boundaries.back() + length);
  }
  RC_ASSERT(packed(lengths).ids == separate);
  RC_ASSERT(packed_from_cumulative(boundaries).ids == separate);
}

}  // namespace
}  // namespace locus::positions
