// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "locus/positions.h"

namespace locus::positions {
namespace {

using Ids = std::vector<Position>;
using Mask = std::vector<std::uint8_t>;
using Lengths = std::vector<std::int64_t>;

TEST(Padding, Left) {
  const Padded plan = left_padded(Lengths{2, 3, 0});
  EXPECT_EQ(plan.ids.batch, 3);
  EXPECT_EQ(plan.ids.tokens, 3);
  EXPECT_EQ(plan.ids.ids, (Ids{0, 0, 1, 0, 1, 2, 0, 0, 0}));
  EXPECT_EQ(plan.mask, (Mask{0, 1, 1, 1, 1, 1, 0, 0, 0}));
}

TEST(Padding, Right) {
  const Padded plan = right_padded(Lengths{2, 3, 0}, {}, 1);
  EXPECT_EQ(plan.ids.ids, (Ids{0, 1, 1, 0, 1, 2, 1, 1, 1}));
  EXPECT_EQ(plan.mask, (Mask{1, 1, 0, 1, 1, 1, 0, 0, 0}));
}

TEST(Padding, WidthAndPadId) {
  const Padded left = left_padded(Lengths{1, 2}, 4, -7);
  EXPECT_EQ(left.ids.tokens, 4);
  EXPECT_EQ(left.ids.ids, (Ids{-7, -7, -7, 0, -7, -7, 0, 1}));
  const Padded right = right_padded(Lengths{1, 2}, 4, 9);
  EXPECT_EQ(right.ids.ids, (Ids{0, 9, 9, 9, 0, 1, 9, 9}));
}

TEST(Padding, MaskWithGaps) {
  const Padded plan = from_mask(Mask{0, 1, 0, 1, 1, 1, 0, 0, 0, 1}, 2, 5, 1);
  EXPECT_EQ(plan.ids.batch, 2);
  EXPECT_EQ(plan.ids.tokens, 5);
  EXPECT_EQ(plan.ids.ids, (Ids{1, 0, 1, 1, 2, 0, 1, 1, 1, 1}));
  EXPECT_EQ(plan.mask, (Mask{0, 1, 0, 1, 1, 1, 0, 0, 0, 1}));
}

TEST(Padding, NoTokens) {
  EXPECT_TRUE(left_padded(Lengths{0, 0}).ids.ids.empty());
  EXPECT_EQ(from_mask(Mask{}, 2, 0).ids.batch, 2);
}

RC_GTEST_PROP(Padding, IdsAreTheCumulativeSumOfTheMask, ()) {
  const auto batch = *rc::gen::inRange<std::int64_t>(1, 5);
  const auto tokens = *rc::gen::inRange<std::int64_t>(0, 9);
  const auto mask =
      *rc::gen::container<Mask>(static_cast<std::size_t>(batch * tokens), rc::gen::element<std::uint8_t>(0, 1));
  const Padded plan = from_mask(mask, batch, tokens, -1);
  for (std::int64_t row = 0; row < batch; ++row) {
    const auto first = mask.begin() + row * tokens;
    for (std::int64_t token = 0; token < tokens; ++token) {
      const auto slot = static_cast<std::size_t>(row * tokens + token);
      const Position expected = mask[slot] == 0 ? -1 : std::count(first, first + token + 1, 1) - 1;
      RC_ASSERT(plan.ids.ids[slot] == expected);
    }
  }
}

RC_GTEST_PROP(Padding, EachRowIsThePrefillOfItsLength, ()) {
  const auto lengths = *rc::gen::nonEmpty(rc::gen::container<Lengths>(rc::gen::inRange<std::int64_t>(0, 12)));
  const std::int64_t width = *std::max_element(lengths.begin(), lengths.end()) + *rc::gen::inRange<std::int64_t>(0, 4);
  for (const bool left : {true, false}) {
    const Padded plan = left ? left_padded(lengths, width, -1) : right_padded(lengths, width, -1);
    for (std::size_t row = 0; row < lengths.size(); ++row) {
      Ids expected = prefill(lengths[row]).ids;
      const Ids padding(static_cast<std::size_t>(width - lengths[row]), -1);
      expected.insert(left ? expected.begin() : expected.end(), padding.begin(), padding.end());
      const auto first = plan.ids.ids.begin() + static_cast<std::int64_t>(row) * width;
      RC_ASSERT(Ids(first, first + width) == expected);
    }
  }
}

}  // namespace
}  // namespace locus::positions
