// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>

#include "locus/positions.h"

namespace locus::positions {
namespace {

using Ids = std::vector<Position>;
using Segments = std::vector<Segment>;

Ids axis(const Multimodal& plan, std::int64_t index) {
  const auto ids = plan.ids.axis(index);
  return {ids.begin(), ids.end()};
}

TEST(Multimodal, TextImageText) {
  const Multimodal plan = multimodal(Segments{Text{2}, Vision{1, 2, 3}, Text{2}});
  EXPECT_EQ(plan.ids.axes, 3);
  EXPECT_EQ(plan.ids.batch, 1);
  EXPECT_EQ(plan.ids.tokens, 10);
  EXPECT_EQ(axis(plan, 0), (Ids{0, 1, 2, 2, 2, 2, 2, 2, 5, 6}));
  EXPECT_EQ(axis(plan, 1), (Ids{0, 1, 2, 2, 2, 3, 3, 3, 5, 6}));
  EXPECT_EQ(axis(plan, 2), (Ids{0, 1, 2, 3, 4, 2, 3, 4, 5, 6}));
  EXPECT_EQ(plan.decode_delta, -3);
}

// The example in the documentation of transformers' Qwen2-VL get_rope_index: a video of 3 x 2 x 2 and 5 text tokens.
TEST(Multimodal, VideoThenText) {
  const Multimodal plan = multimodal(Segments{Vision{3, 2, 2}, Text{5}});
  EXPECT_EQ(axis(plan, 0), (Ids{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(axis(plan, 1), (Ids{0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 3, 4, 5, 6, 7}));
  EXPECT_EQ(axis(plan, 2), (Ids{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 3, 4, 5, 6, 7}));
  EXPECT_EQ(plan.decode_delta, 8 - 17);
}

// The example of Qwen2.5-VL: 25 tokens per second and 2 frames per grid step at 1 frame per second: 50 ids per step.
TEST(Multimodal, VideoInSeconds) {
  const Multimodal plan = multimodal(Segments{Vision{3, 2, 2, 50.0}, Text{5}});
  EXPECT_EQ(axis(plan, 0), (Ids{0, 0, 0, 0, 50, 50, 50, 50, 100, 100, 100, 100, 101, 102, 103, 104, 105}));
  EXPECT_EQ(axis(plan, 2), (Ids{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 101, 102, 103, 104, 105}));
  EXPECT_EQ(plan.decode_delta, 106 - 17);
}

TEST(Multimodal, FractionsOfAnIdAreDropped) {
  const Multimodal plan = multimodal(Segments{Text{1}, Vision{5, 1, 1, 0.75}, Text{1}});
  EXPECT_EQ(axis(plan, 0), (Ids{0, 1, 1, 2, 3, 4, 5}));  // 1 + floor of 0, 0.75, 1.5, 2.25, 3
  EXPECT_EQ(axis(plan, 1), (Ids{0, 1, 1, 1, 1, 1, 5}));
}

TEST(Multimodal, FrozenTime) {
  const Multimodal plan = multimodal(Segments{Vision{2, 1, 2, 0.0}, Text{1}});
  EXPECT_EQ(axis(plan, 0), (Ids{0, 0, 0, 0, 2}));
}

TEST(Multimodal, TextAloneIsAPrefill) {
  const Multimodal plan = multimodal(Segments{Text{4}, Text{0}, Text{3}});
  for (std::int64_t index = 0; index < 3; ++index) EXPECT_EQ(axis(plan, index), prefill(7).ids);
  EXPECT_EQ(plan.decode_delta, 0);
  EXPECT_EQ(multimodal(Segments{}).ids.tokens, 0);
  EXPECT_EQ(multimodal(Segments{}).decode_delta, 0);
}

TEST(Multimodal, ConsecutiveImages) {
  const Multimodal plan = multimodal(Segments{Vision{1, 1, 3}, Vision{1, 2, 1}});
  EXPECT_EQ(axis(plan, 0), (Ids{0, 0, 0, 3, 3}));
  EXPECT_EQ(axis(plan, 1), (Ids{0, 0, 0, 3, 4}));
  EXPECT_EQ(axis(plan, 2), (Ids{0, 1, 2, 3, 3}));
  EXPECT_EQ(plan.decode_delta, 0);
}

// Brute force by the definition: the start of a segment is the largest of all ids before it, plus one; a token's frame,
// row and column come from its index in the segment by division.
RC_GTEST_PROP(Multimodal, EverySegmentStartsAfterTheLargestId, ()) {
  Segments segments;
  const auto count = *rc::gen::inRange(0, 6);
  for (int i = 0; i < count; ++i) {
    if (*rc::gen::arbitrary<bool>()) {
      segments.emplace_back(Text{*rc::gen::inRange<std::int64_t>(0, 5)});
    } else {
      segments.emplace_back(Vision{*rc::gen::inRange<std::int64_t>(1, 4), *rc::gen::inRange<std::int64_t>(1, 4),
                                   *rc::gen::inRange<std::int64_t>(1, 4), 2.0});
    }
  }
  std::vector<std::array<Position, 3>> expected;
  for (const Segment& segment : segments) {
    Position start = 0;
    for (const auto& ids : expected) start = std::max({start, ids[0] + 1, ids[1] + 1, ids[2] + 1});
    if (const Text* text = std::get_if<Text>(&segment)) {
      for (Position t = 0; t < text->tokens; ++t) expected.push_back({start + t, start + t, start + t});
    } else {
      const Vision vision = std::get<Vision>(segment);
      const std::int64_t area = vision.rows * vision.cols;
      for (Position t = 0; t < vision.frames * area; ++t) {
        expected.push_back({start + 2 * (t / area), start + t % area / vision.cols, start + t % vision.cols});
      }
    }
  }
  const Multimodal plan = multimodal(segments);
  RC_ASSERT(plan.ids.tokens == static_cast<std::int64_t>(expected.size()));
  Position next = 0;
  for (std::size_t token = 0; token < expected.size(); ++token) {
    for (std::size_t index = 0; index < 3; ++index) {
      RC_ASSERT(plan.ids.axis(static_cast<std::int64_t>(index))[token] == expected[token][index]);
      next = std::max(next, expected[token][index] + 1);
    }
  }
  RC_ASSERT(plan.ids.tokens + plan.decode_delta == next);
}

}  // namespace
}  // namespace locus::positions
