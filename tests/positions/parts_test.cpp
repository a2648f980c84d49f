// SPDX-License-Identifier: Apache-2.0
// Plans in parts: pictures, video and sound in chunks, in turns, decoded, as drafts; keys that stand for several tokens.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "locus/positions.h"
#include "support/error_of.h"

namespace locus::positions {
namespace {

using Ids = std::vector<Position>;

std::vector<Segment> random_segments() {
  std::vector<Segment> segments;
  for (int i = *rc::gen::inRange(1, 6); i > 0; --i) {
    const auto small = [](int least) { return static_cast<std::int64_t>(*rc::gen::inRange(least, 5)); };
    const double scale = 0.5 * *rc::gen::inRange(0, 7);
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        segments.emplace_back(Text{small(0)});
        break;
      case 1:
        segments.emplace_back(Audio{small(0), scale});
        break;
      default:
        segments.emplace_back(Vision{small(1), small(1), small(1), scale});
    }
  }
  return segments;
}

// A sound of three tokens that last one and a half ids each starts at 2; text goes on after its last id.
TEST(Parts, SoundLastsItsTime) {
  const Multimodal plan = multimodal(std::vector<Segment>{Text{2}, Audio{3, 1.5}, Text{1}});
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    const auto ids = plan.ids.axis(axis);
    EXPECT_EQ(Ids(ids.begin(), ids.end()), (Ids{0, 1, 2, 3, 5, 6}));
  }
  EXPECT_EQ(plan.decode_delta, 1);
}

RC_GTEST_PROP(Parts, TurnsContinueTheWhole, ()) {
  const std::vector<Segment> all = random_segments();
  const Multimodal whole = multimodal(all);
  const auto cut = static_cast<std::ptrdiff_t>(*rc::gen::inRange<std::size_t>(0, all.size() + 1));
  const Multimodal first = multimodal(std::vector<Segment>(all.begin(), all.begin() + cut));
  const Multimodal rest =
      multimodal_after({first.ids.tokens, first.decode_delta}, std::vector<Segment>(all.begin() + cut, all.end()));
  RC_ASSERT(first.ids.ids == chunk(whole.ids, 0, first.ids.tokens).ids);
  RC_ASSERT(rest.ids.ids == chunk(whole.ids, first.ids.tokens, rest.ids.tokens).ids);
  RC_ASSERT(rest.decode_delta == whole.decode_delta);
}

// Decoding t tokens is a text of t tokens, and the accepted path of a chain of drafts is decoding.
RC_GTEST_PROP(Parts, DecodingAndDraftsContinueTheWhole, ()) {
  std::vector<Segment> all = random_segments();
  const Multimodal prompt = multimodal(all);
  const std::int64_t tokens = *rc::gen::inRange(1, 6);
  all.emplace_back(Text{tokens});
  const Multimodal whole = multimodal(all);
  const MultimodalPrefix prefix{prompt.ids.tokens, prompt.decode_delta};
  RC_ASSERT(multimodal_decode(prefix, tokens).ids == chunk(whole.ids, prompt.ids.tokens, tokens).ids);

  std::vector<std::int64_t> parents;  // every node but the last of its level is wrong
  std::int64_t right = -1;
  for (std::int64_t level = 0; level < tokens; ++level) {
    const std::int64_t parent = right;
    for (int node = *rc::gen::inRange(1, 4); node > 0; --node) parents.push_back(parent);
    right = static_cast<std::int64_t>(parents.size()) - 1;
  }
  const PositionIds tree_ids = multimodal_tree(parents, prefix);
  const std::vector<std::int64_t> path = accepted_path(parents, right);
  RC_ASSERT(static_cast<std::int64_t>(path.size()) == tokens);
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    for (std::int64_t level = 0; level < tokens; ++level) {
      const auto node = static_cast<std::size_t>(path[static_cast<std::size_t>(level)]);
      RC_ASSERT(tree_ids.axis(axis)[node] == whole.ids.axis(axis)[static_cast<std::size_t>(prompt.ids.tokens + level)]);
    }
  }
}

// Four tokens per key: at position 7 the second key is complete, at 6 it is not.
TEST(Parts, CompressedKeysStandAtTheirFirstTokenAndAreSeenFromTheirLast) {
  const Compressed plan = compressed(3, 4);
  EXPECT_EQ(plan.ids.ids, (Ids{0, 4, 8}));
  EXPECT_EQ(plan.visible_from, (Ids{3, 7, 11}));
  const Ids queries{3, 2, 6, 7, 40};
  EXPECT_EQ(compressed_visible(plan, queries),
            (std::vector<std::uint8_t>{1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1}));
}

TEST(Parts, RefuseWhatDoesNotFit) {
  using testing::error_of;
  const PositionIds plan = prefill(4);
  EXPECT_EQ(error_of([&] { chunk(plan, 2, 3); }), "chunk must lie within the 4 tokens of its plan, got 2 + 3");
  EXPECT_EQ(error_of([] { compressed(3, 0); }), "compressed.rate must be at least 1, got 0");
  EXPECT_EQ(error_of([] { accepted_path(std::vector<std::int64_t>{-1}, 1); }),
            "accepted_path.last must be a node below 1, got 1");
  EXPECT_EQ(error_of([] {
              multimodal_decode({3, -4}, 1);
            }),
            "multimodal.prefix.decode_delta must be at least -tokens (-3), got -4");
}

}  // namespace
}  // namespace locus::positions
