// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <utility>

#include "locus/positions.h"

namespace locus::positions {
namespace {

using Ids = std::vector<Position>;

Ids axis(const PositionIds& plan, std::int64_t index) {
  const auto ids = plan.axis(index);
  return {ids.begin(), ids.end()};
}

TEST(Grid, RowMajor) {
  const PositionIds plan = grid(2, 3);
  EXPECT_EQ(plan.axes, 2);
  EXPECT_EQ(plan.batch, 1);
  EXPECT_EQ(plan.tokens, 6);
  EXPECT_EQ(axis(plan, 0), (Ids{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(axis(plan, 1), (Ids{0, 1, 2, 0, 1, 2}));
}

TEST(Grid, InBlocks) {
  const PositionIds plan = grid(4, 4, 2);
  EXPECT_EQ(axis(plan, 0), (Ids{0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3}));
  EXPECT_EQ(axis(plan, 1), (Ids{0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3}));
}

TEST(Grid, Pixtral) {
  const PositionIds plan = pixtral_ids(2, 3, 64);
  EXPECT_EQ(plan.axes, 1);
  EXPECT_EQ(plan.ids, (Ids{0, 1, 2, 64, 65, 66}));
}

TEST(Grid, Coordinates) {
  const auto centres = patch_coordinates(2, 4);
  ASSERT_EQ(centres.size(), 8U);
  const double xs[] = {-0.75, -0.25, 0.25, 0.75};
  for (std::size_t patch = 0; patch < 8; ++patch) {
    EXPECT_EQ(centres[patch][0], patch < 4 ? -0.5 : 0.5);
    EXPECT_EQ(centres[patch][1], xs[patch % 4]);
  }
  EXPECT_EQ(patch_coordinates(1, 1).front(), (std::array<double, 2>{0.0, 0.0}));
}

// The order by definition: the block, then the position within it, each row-major.
RC_GTEST_PROP(Grid, EveryPatchOnceAndInBlockOrder, ()) {
  const auto merge = *rc::gen::inRange<std::int64_t>(1, 4);
  const std::int64_t rows = merge * *rc::gen::inRange<std::int64_t>(1, 5);
  const std::int64_t cols = merge * *rc::gen::inRange<std::int64_t>(1, 5);
  const PositionIds plan = grid(rows, cols, merge);
  std::set<std::pair<Position, Position>> patches;
  for (std::int64_t token = 0; token < plan.tokens; ++token) {
    const Position row = plan.axis(0)[static_cast<std::size_t>(token)];
    const Position col = plan.axis(1)[static_cast<std::size_t>(token)];
    RC_ASSERT(row >= 0 && row < rows && col >= 0 && col < cols);
    const std::int64_t block = row / merge * (cols / merge) + col / merge;
    RC_ASSERT(token == block * merge * merge + row % merge * merge + col % merge);
    patches.emplace(row, col);
  }
  RC_ASSERT(static_cast<std::int64_t>(patches.size()) == rows * cols);
}

}  // namespace
}  // namespace locus::positions
