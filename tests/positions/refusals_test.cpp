// SPDX-License-Identifier: Apache-2.0
// What the planner refuses, and the parts of the message that identify the error.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "locus/error.h"
#include "locus/positions.h"

namespace locus::positions {
namespace {

using Numbers = std::vector<std::int64_t>;
using Mask = std::vector<std::uint8_t>;
using Segments = std::vector<Segment>;
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

struct Refusal {
  const char* name;
  std::function<void()> call;
  const char* message_part;
};

class Refusals : public ::testing::TestWithParam<Refusal> {};

TEST_P(Refusals, NamesParameterValueAndRule) {
  try {
    GetParam().call();
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().message_part), std::string::npos) << error.what();
  }
}

const Refusal refusals[] = {
    {"prefill_negative", [] { prefill(-1); }, "prefill.tokens must be at least 0, got -1"},
    {"prefill_start", [] { prefill(1, -3); }, "prefill.start must be at least 0, got -3"},
    {"prefill_overflow", [] { prefill(2, largest); }, "64 bits, got 9223372036854775807 + 1"},
    {"prefill_absurd", [] { prefill(max_ids + 1); }, "at most 8589934592 ids"},
    {"decode_prefix", [] { decode(-1, 1); }, "decode.prefix must be at least 0, got -1"},
    {"decode_negative", [] { decode(1, -1); }, "decode.tokens must be at least 0, got -1"},
    {"decode_overflow", [] { decode(largest - 1, 3); }, "64 bits"},
    {"left_no_rows", [] { left_padded(Numbers{}); }, "left_padded.lengths must have at least one row"},
    {"left_negative",
     [] {
       left_padded(Numbers{2, -5});
     },
     "left_padded.lengths[1] must be at least 0, got -5"},
    {"left_narrow",
     [] {
       left_padded(Numbers{2, 5}, 4);
     },
     "left_padded.width must be at least the longest row (5), got 4"},
    {"left_absurd",
     [] {
       left_padded(Numbers{0, 0, max_ids / 2});
     },
     "ids, got 3 x 4294967296"},
    {"right_no_rows", [] { right_padded(Numbers{}); }, "right_padded.lengths must have at least one row"},
    {"right_narrow", [] { right_padded(Numbers{0}, -1); },
     "right_padded.width must be at least the longest row (0), got -1"},
    {"right_absurd",
     [] {
       right_padded(Numbers{1, 1}, largest);
     },
     "ids, got 2 x 9223372036854775807"},
    {"mask_value",
     [] {
       from_mask(Mask{0, 2}, 1, 2);
     },
     "mask[1] must be 0 or 1, got 2"},
    {"mask_size",
     [] {
       from_mask(Mask{0, 1}, 1, 3);
     },
     "mask must have 1 x 3 entries, got 2"},
    {"mask_batch", [] { from_mask(Mask{}, 0, 0); }, "mask.batch must be at least 1, got 0"},
    {"mask_tokens", [] { from_mask(Mask{}, 1, -1); }, "mask.tokens must be at least 0, got -1"},
    {"mask_absurd", [] { from_mask(Mask{}, largest, largest); }, "at most 8589934592 ids"},
    {"packed_negative",
     [] {
       packed(Numbers{3, -1});
     },
     "packed.lengths[1] must be at least 0, got -1"},
    {"packed_overflow",
     [] {
       packed(Numbers{largest, 1});
     },
     "64 bits"},
    {"packed_absurd",
     [] {
       packed(Numbers{max_ids, 1});
     },
     "at most 8589934592 ids"},
    {"cumulative_empty", [] { packed_from_cumulative(Numbers{}); }, "packed.boundaries must start at 0, got nothing"},
    {"cumulative_start",
     [] {
       packed_from_cumulative(Numbers{1, 3});
     },
     "packed.boundaries must start at 0, got 1"},
    {"cumulative_falls",
     [] {
       packed_from_cumulative(Numbers{0, 5, 3});
     },
     "must not decrease, got 3 after 5"},
    {"cumulative_absurd",
     [] {
       packed_from_cumulative(Numbers{0, largest});
     },
     "at most 8589934592 ids"},
    {"shard_tokens", [] { shard(ShardKind::striped, 0, 1, 0); }, "shard.tokens must be at least 1, got 0"},
    {"shard_ranks", [] { shard(ShardKind::striped, 4, 0, 0); }, "shard.ranks must be at least 1, got 0"},
    {"shard_rank_high", [] { shard(ShardKind::striped, 4, 2, 2); }, "below ranks (2), got 2"},
    {"shard_rank_negative", [] { shard(ShardKind::contiguous, 4, 2, -1); }, "below ranks (2), got -1"},
    {"shard_contiguous_uneven", [] { shard(ShardKind::contiguous, 5, 2, 0); }, "multiple of ranks (2), got 5"},
    {"shard_striped_uneven", [] { shards(ShardKind::striped, 5, 2); }, "multiple of ranks (2), got 5"},
    {"shard_zigzag_uneven", [] { shard(ShardKind::zigzag, 6, 2, 0); }, "multiple of twice ranks (2), got 6"},
    {"shard_zigzag_many", [] { shard(ShardKind::zigzag, largest, largest, 0); }, "multiple of twice ranks"},
    {"shard_absurd", [] { shard(ShardKind::contiguous, largest, 1, 0); }, "at most 8589934592 ids"},
    {"shard_kind", [] { shard(static_cast<ShardKind>(9), 2, 1, 0); }, "shard.kind must be"},
    {"tree_cycle",
     [] {
       tree(Numbers{-1, 2, 1});
     },
     "tree.parents must not have a cycle"},
    {"tree_own_parent",
     [] {
       tree(Numbers{-1, 1});
     },
     "cycle, got one through node 1"},
    {"tree_parent_high",
     [] {
       tree(Numbers{-1, 2});
     },
     "tree.parents[1] must be -1 (root) or a node below 2, got 2"},
    {"tree_parent_low", [] { tree(Numbers{-2}); }, "tree.parents[0] must be -1 (root) or a node below 1, got -2"},
    {"tree_prefix", [] { tree(Numbers{-1}, -1); }, "tree.prefix must be at least 0, got -1"},
    {"tree_overflow",
     [] {
       tree(Numbers{-1, 0}, largest);
     },
     "64 bits"},
    {"ancestor_cycle",
     [] {
       ancestor_mask(Numbers{1, 0});
     },
     "cycle"},
    {"streaming_seen", [] { streaming(-1, 4, 4); }, "streaming.seen must be at least 0, got -1"},
    {"streaming_sinks", [] { streaming(1, -4, 4); }, "streaming.sinks must be at least 0, got -4"},
    {"streaming_window", [] { streaming(1, 4, 0); }, "streaming.window must be at least 1, got 0"},
    {"streaming_absurd", [] { streaming(largest, largest / 4, largest / 4); }, "at most 8589934592 ids"},
    {"text_negative", [] { multimodal(Segments{Text{-1}}); }, "multimodal.text.tokens must be at least 0, got -1"},
    {"vision_frames",
     [] {
       multimodal(Segments{Vision{0, 1, 1}});
     },
     "multimodal.vision.frames must be at least 1"},
    {"vision_rows",
     [] {
       multimodal(Segments{Vision{1, 0, 1}});
     },
     "multimodal.vision.rows must be at least 1"},
    {"vision_cols",
     [] {
       multimodal(Segments{Vision{1, 1, -2}});
     },
     "multimodal.vision.cols must be at least 1"},
    {"vision_scale",
     [] {
       multimodal(Segments{Vision{1, 1, 1, -0.5}});
     },
     "time_scale must be finite"},
    {"vision_infinite",
     [] {
       multimodal(Segments{Vision{1, 1, 1, infinite}});
     },
     "time_scale must be finite"},
    {"vision_nan",
     [] {
       multimodal(Segments{Vision{1, 1, 1, not_a_number}});
     },
     "time_scale must be finite"},
    {"vision_overflow",
     [] {
       multimodal(Segments{Vision{2, 1, 1, 1e300}});
     },
     "64 bits"},
    {"vision_sum_overflow",
     [] {
       multimodal(Segments{Vision{2, 1, 1, 0x1p61}, Vision{2, 1, 1, 0x1p61}, Vision{2, 1, 1, 0x1p61},
                           Vision{2, 1, 1, 0x1p61}});
     },
     "64 bits"},
    {"vision_absurd",
     [] {
       multimodal(Segments{Vision{1 << 20, 1 << 20, 1 << 20}});
     },
     "at most 8589934592 ids"},
    {"grid_rows", [] { grid(0, 1); }, "grid.rows must be at least 1, got 0"},
    {"grid_cols", [] { grid(1, -1); }, "grid.cols must be at least 1, got -1"},
    {"grid_merge_zero", [] { grid(2, 2, 0); }, "grid.merge must be at least 1, got 0"},
    {"grid_merge_uneven", [] { grid(4, 3, 2); }, "grid.merge must divide rows (4) and cols (3), got 2"},
    {"grid_absurd", [] { grid(largest, largest); }, "at most 8589934592 ids"},
    {"pixtral_side", [] { pixtral_ids(2, 65, 64); }, "grid.max_side must be at least rows (2) and cols (65), got 64"},
    {"pixtral_overflow", [] { pixtral_ids(2, 1, largest); }, "64 bits"},
    {"coordinates_rows", [] { patch_coordinates(0, 4); }, "grid.rows must be at least 1, got 0"},
    {"coordinates_absurd", [] { patch_coordinates(max_ids, 2); }, "at most 8589934592 ids"},
};

INSTANTIATE_TEST_SUITE_P(Positions, Refusals, ::testing::ValuesIn(refusals),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace locus::positions
