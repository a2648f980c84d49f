// SPDX-License-Identifier: Apache-2.0
// Position plans through C: the same ids as through C++.
#include "c/c_support.h"
#include "locus/document_shards.h"

namespace locus {
namespace {

using namespace locus::testing;

struct Plan {
  std::vector<std::int64_t> ids, kept, visible_from, slots;
  std::vector<std::uint8_t> mask;
  std::int64_t axes = 0, batch = 0, tokens = 0, decode_delta = 0;
};
Plan plan_of(int status, locus_plan* made) {
  EXPECT_OK(status);
  const OwnedPlan owned(made);
  auto view = sized<locus_plan_view>();
  EXPECT_OK(locus_plan_get(made, &view));
  const auto copied = [](const locus_span_i64& span) {
    return std::vector<std::int64_t>(span.data, span.data + span.count);
  };
  return {{view.ids.ids, view.ids.ids + view.ids.axes * view.ids.batch * view.ids.tokens},
          copied(view.kept),
          copied(view.visible_from),
          copied(view.slots),
          {view.mask.data, view.mask.data + view.mask.count},
          view.ids.axes,
          view.ids.batch,
          view.ids.tokens,
          view.decode_delta};
}
void expect_ids(const Plan& plan, const PositionIds& expected) {
  EXPECT_EQ(plan.ids, expected.ids);
  EXPECT_EQ(plan.axes, expected.axes);
  EXPECT_EQ(plan.batch, expected.batch);
  EXPECT_EQ(plan.tokens, expected.tokens);
}

TEST(CPlan, EqualCpp) {
  const std::vector<std::int64_t> lengths = {3, 1, 2}, parents = {-1, 0, 0, 2};
  const std::vector<std::uint8_t> mask = {0, 1, 1, 1, 0, 1};
  locus_plan* p = nullptr;
  int status = locus_plan_prefill(4, 9, &p);
  expect_ids(plan_of(status, p), positions::prefill(4, 9));
  for (const int left : {0, 1}) {
    status = locus_plan_padded(c_span(lengths), 5, left, 1, &p);
    const Plan padded = plan_of(status, p);
    const auto expected = left == 1 ? positions::left_padded(lengths, 5, 1) : positions::right_padded(lengths, 5, 1);
    expect_ids(padded, expected.ids);
    EXPECT_EQ(padded.mask, expected.mask);
  }
  status = locus_plan_padded(c_span(lengths), 0, 1, 0, &p);
  expect_ids(plan_of(status, p), positions::left_padded(lengths).ids);
  status = locus_plan_from_mask({mask.data(), 6}, 2, 3, 7, &p);
  expect_ids(plan_of(status, p), positions::from_mask(mask, 2, 3, 7).ids);
  status = locus_plan_packed(c_span(lengths), &p);
  expect_ids(plan_of(status, p), positions::packed(lengths));
  for (const int kind : {LOCUS_CONTIGUOUS, LOCUS_STRIPED, LOCUS_ZIGZAG}) {
    status = locus_plan_shard(kind, 16, 4, 1, &p);
    expect_ids(plan_of(status, p), positions::shard(static_cast<positions::ShardKind>(kind), 16, 4, 1));
  }
  status = locus_plan_tree(c_span(parents), 10, &p);
  const Plan tree = plan_of(status, p);
  expect_ids(tree, positions::tree(parents, 10));
  EXPECT_EQ(tree.mask, positions::ancestor_mask(parents));
  status = locus_plan_streaming(20, 2, 5, &p);
  const Plan streaming = plan_of(status, p);
  expect_ids(streaming, positions::streaming(20, 2, 5).ids);
  EXPECT_EQ(streaming.kept, positions::streaming(20, 2, 5).kept);
  status = locus_plan_grid(4, 6, 2, &p);
  expect_ids(plan_of(status, p), positions::grid(4, 6, 2));
  const locus_segment segments[] = {
      {segment_size, 3, 0, 0, 0, 0, 0}, {segment_size, 0, 2, 2, 3, 0, 0}, {segment_size, 2, 0, 0, 0, 0, 0}};
  status = locus_plan_multimodal(segments, 3, &p);
  const Plan pictures = plan_of(status, p);
  const std::vector<positions::Segment> same = {positions::Text{3}, positions::Vision{2, 2, 3}, positions::Text{2}};
  expect_ids(pictures, positions::multimodal(same).ids);
  EXPECT_EQ(pictures.decode_delta, positions::multimodal(same).decode_delta);
}

// Text, a video of 1.5 ids per frame and sound, planned whole, in two turns, in chunks, decoded and as a tree.
TEST(CPlan, MultimodalTurnsChunksDecodingAndDrafts) {
  const locus_segment segments[] = {{segment_size, 3, 0, 0, 0, 0, 0},
                                    {segment_size, 0, 3, 2, 2, 1.5, 0},
                                    {segment_size, 4, 0, 0, 0, 2, 1},
                                    {segment_size, 2, 0, 0, 0, 0, 0}};
  const std::vector<positions::Segment> same = {positions::Text{3}, positions::Vision{3, 2, 2, 1.5},
                                                positions::Audio{4, 2}, positions::Text{2}};
  const positions::Multimodal expected = positions::multimodal(same);
  locus_plan* p = nullptr;
  ASSERT_OK(locus_plan_multimodal(segments, 4, &p));
  const OwnedPlan whole(p);
  int status = locus_plan_multimodal(segments, 2, &p);
  const Plan first = plan_of(status, p);
  status = locus_plan_multimodal_after({15, first.decode_delta}, segments + 2, 2, &p);
  const Plan second = plan_of(status, p);
  EXPECT_EQ(second.decode_delta, expected.decode_delta);
  expect_ids(second, positions::chunk(expected.ids, 15, 6));
  status = locus_plan_chunk(whole.get(), 5, 7, &p);  // from inside the video
  expect_ids(plan_of(status, p), positions::chunk(expected.ids, 5, 7));

  const locus_multimodal_prefix prefix = {21, expected.decode_delta};
  const positions::MultimodalPrefix cpp_prefix = {21, expected.decode_delta};
  const std::vector<std::int64_t> parents = {-1, 0, 0, 2, -1};
  status = locus_plan_multimodal_decode(prefix, 3, &p);
  expect_ids(plan_of(status, p), positions::multimodal_decode(cpp_prefix, 3));
  status = locus_plan_multimodal_tree(c_span(parents), prefix, &p);
  const Plan tree = plan_of(status, p);
  expect_ids(tree, positions::multimodal_tree(parents, cpp_prefix));
  EXPECT_EQ(tree.mask, positions::ancestor_mask(parents));
  status = locus_plan_accepted_path(c_span(parents), 3, 40, &p);
  const Plan path = plan_of(status, p);
  EXPECT_EQ(path.kept, (std::vector<std::int64_t>{0, 2, 3}));
  EXPECT_EQ(path.ids, (std::vector<std::int64_t>{40, 41, 42}));
}

TEST(CPlan, CompressedKeys) {
  locus_plan* p = nullptr;
  const int status = locus_plan_compressed(3, 4, &p);
  const Plan plan = plan_of(status, p);
  EXPECT_EQ(plan.ids, (std::vector<std::int64_t>{0, 4, 8}));
  EXPECT_EQ(plan.visible_from, (std::vector<std::int64_t>{3, 7, 11}));
}

TEST(CPlan, DocumentShardsCutAnyPlan) {
  const std::vector<std::int64_t> lengths = {7, 4, 5};
  const locus_segment segments[] = {
      {segment_size, 7, 0, 0, 0, 0, 0}, {segment_size, 0, 1, 2, 2, 0, 0}, {segment_size, 5, 0, 0, 0, 0, 0}};
  locus_plan* p = nullptr;
  ASSERT_OK(locus_plan_multimodal(segments, 3, &p));
  const OwnedPlan pictures(p);
  const PositionIds row = positions::multimodal(std::vector<positions::Segment>{
                                                    positions::Text{7}, positions::Vision{1, 2, 2}, positions::Text{5}})
                              .ids;
  for (const int uneven : {0, 1}) {
    for (std::int64_t rank = 0; rank < 2; ++rank) {
      const positions::DocumentShard expected =
          positions::document_shard(positions::ShardKind::zigzag, lengths, 2, rank,
                                    uneven == 1 ? positions::Remainder::uneven : positions::Remainder::padded);
      ASSERT_OK(locus_plan_document_shard(LOCUS_ZIGZAG, c_span(lengths), 2, rank, uneven, &p));
      locus_plan* cut = nullptr;
      const int status = locus_plan_cut(pictures.get(), p, &cut);
      expect_ids(plan_of(status, cut), positions::cut(row, expected));
      const Plan held = plan_of(LOCUS_OK, p);  // frees it
      expect_ids(held, expected.ids);
      EXPECT_EQ(held.kept, expected.tokens);
      EXPECT_EQ(held.slots, expected.slots);
      EXPECT_EQ(held.mask, expected.mask);
    }
  }
}

}  // namespace
}  // namespace locus
