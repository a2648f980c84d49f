// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>

#include "locus/error.h"
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

// transformers 4.52, modeling_qwen2_5_omni.py, get_rope_index with use_audio_in_video and get_chunked_index, worked by
// hand: text of 2; 4 frames of 1 x 2 tokens, one second or 25 ids each; 60 tokens of sound; text of 1. Picture and sound
// both count from 3, in pieces of 50 ids.
TEST(Multimodal, VideoWithItsSound) {
  const VideoWithSound both{.video = {4, 1, 2, 25.0}, .audio = {60}};
  const Multimodal plan = multimodal(Segments{Text{2}, both, Text{1}});
  Ids time{0, 1, 2, 2, 3, 3, 28, 28}, width{0, 1, 2, 2, 3, 4, 3, 4};
  for (Position id = 3; id < 53; ++id) time.push_back(id);
  width.insert(width.end(), time.end() - 50, time.end());
  time.insert(time.end(), {53, 53, 78, 78});
  width.insert(width.end(), {3, 4, 3, 4});
  for (Position id = 53; id < 63; ++id) time.push_back(id);
  width.insert(width.end(), time.end() - 10, time.end());
  // Two tokens end it, after the last piece of sound, although the last frame has 78; the text follows them.
  time.insert(time.end(), {63, 63, 64});
  width.insert(width.end(), {63, 63, 64});
  EXPECT_EQ(axis(plan, 0), time);
  EXPECT_EQ(axis(plan, 2), width);
  EXPECT_EQ(plan.ids.tokens, 2 + 4 + 8 + 60 + 1);
  EXPECT_EQ(plan.decode_delta, 79 - plan.ids.tokens);  // decoding goes on after the largest id
}

// A frame of 150 ids jumps over two pieces: every token ends one piece at most.
TEST(Multimodal, FramesLongerThanAPieceOfSound) {
  const VideoWithSound both{.video = {2, 1, 3, 150.0}, .audio = {2}};
  const Multimodal plan = multimodal(Segments{both});
  EXPECT_EQ(axis(plan, 0), (Ids{0, 0, 1, 1, 1, 1, 2, 151, 151, 151, 152, 152}));
  EXPECT_EQ(axis(plan, 2), (Ids{0, 0, 1, 2, 3, 1, 2, 1, 2, 3, 152, 152}));
}

// Sound that lasts as long as the frames: in chunks, in turns and decoded, ids are those of the whole.
TEST(Multimodal, VideoWithItsSoundInParts) {
  const VideoWithSound both{.video = {3, 2, 2, 4.0}, .audio = {12}, .ids_per_chunk = 5};
  const Multimodal whole = multimodal(Segments{Text{3}, both, Text{4}});
  const Multimodal turn = multimodal(Segments{Text{3}, both});
  const MultimodalPrefix prefix{turn.ids.tokens, turn.decode_delta};
  const Multimodal next = multimodal_after(prefix, Segments{Text{4}});
  EXPECT_EQ(next.ids.ids, chunk(whole.ids, turn.ids.tokens, 4).ids);
  EXPECT_EQ(multimodal_decode(prefix, 4).ids, next.ids.ids);
  EXPECT_EQ(next.decode_delta, whole.decode_delta);
  for (std::int64_t first = 0; first < turn.ids.tokens; ++first) {
    EXPECT_EQ(chunk(turn.ids, first, 1).ids, chunk(whole.ids, first, 1).ids);
  }
}

TEST(Multimodal, RefusesAVideoWithoutItsSound) {
  EXPECT_THROW(multimodal(Segments{VideoWithSound{.video = {}, .audio = {0}}}), Error);
  EXPECT_THROW(multimodal(Segments{VideoWithSound{.video = {}, .audio = {1}, .ids_per_chunk = 0}}), Error);
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
