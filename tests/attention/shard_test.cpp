// SPDX-License-Identifier: Apache-2.0
// Attention over shards of the keys, merged, is attention over all of them: with places in the whole, and with gates that
// are counted from shard to shard.
#include "locus/attention_shard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "locus/error.h"
#include "locus/positions.h"

namespace locus {
namespace {

constexpr std::int64_t shard_tokens = 60, shard_heads = 2, shard_dim = 8;

class ShardsOfKeys : public ::testing::Test {
 protected:
  ShardsOfKeys() {
    std::mt19937 random(7);
    for (auto* rows : {&query_, &key_, &value_}) {
      for (float& x : *rows) x = static_cast<float>(random() >> 8) * 0x1p-23f - 1;
    }
  }

  static HeadsView view(std::vector<float>& rows, std::int64_t first, std::int64_t count) {
    return heads_view(rows.data() + first * shard_heads * shard_dim, ElementType::float32, "thd",
                      {{count, shard_heads, shard_dim}});
  }

  AttentionCall call(const Encoding& encoding, std::int64_t first, std::int64_t count, std::vector<float>& output,
                     std::vector<float>& lse) {
    output.assign(query_.size(), 0.0f);
    lse.assign(static_cast<std::size_t>(shard_heads * shard_tokens), 0.0f);
    return {.query = view(query_, 0, shard_tokens),
            .key = view(key_, first, count),
            .value = view(value_, first, count),
            .output = view(output, 0, shard_tokens),
            .encoding = &encoding,
            .query_ids = ids_,
            .key_ids = std::span(ids_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
            .log_sum_exp = lse.data()};
  }

  /// The keys in three shards, from the last to the first, merged.
  std::vector<float> merged(const Encoding& encoding, const Mask& mask, std::span<const Position> places) {
    std::vector<double> counts(static_cast<std::size_t>(shard_heads * shard_tokens), 0.0);
    std::vector<std::vector<float>> outputs(3), lses(3);
    std::vector<PartialAttention> parts;
    const std::int64_t ends[] = {0, 13, 37, shard_tokens};
    for (int shard = 2; shard >= 0; --shard) {
      const auto at = static_cast<std::size_t>(shard);
      const std::int64_t first = ends[shard], count = ends[shard + 1] - first;
      AttentionCall part = call(encoding, first, count, outputs[at], lses[at]);
      part.mask = mask;
      ShardOfKeys of{.gate_counts = counts.data()};
      if (!places.empty()) {
        of.query_places = places;
        of.key_places = places.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
      }
      attend_shard(part, of);
      parts.push_back({part.output, part.log_sum_exp});
    }
    std::vector<float> result(query_.size());
    merge(parts, view(result, 0, shard_tokens));
    return result;
  }

  std::vector<float> whole(const Encoding& encoding, const Mask& mask) {
    std::vector<float> output, lse;
    AttentionCall all = call(encoding, 0, shard_tokens, output, lse);
    all.mask = mask;
    attend(all);
    return output;
  }

  static void expect_equal(const std::vector<float>& got, const std::vector<float>& want) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-5f) << i;
  }

  std::vector<float> query_ = std::vector<float>(static_cast<std::size_t>(shard_tokens * shard_heads * shard_dim));
  std::vector<float> key_ = query_, value_ = query_;
  std::vector<Position> ids_ = positions::prefill(shard_tokens).ids;
};

TEST_F(ShardsOfKeys, CountGatesOverTheWhole) {
  const Encoding cope("cope", {{"heads", shard_heads}, {"head_dim", shard_dim}, {"deviation", 0.5}});
  const Mask causal{.causal = true};
  expect_equal(merged(cope, causal, {}), whole(cope, causal));
}

// Ids repeat, as in a picture; places do not.
TEST_F(ShardsOfKeys, MaskByPlacesInTheWhole) {
  const Encoding alibi("alibi", {{"heads", shard_heads}});
  const std::vector<Position> places = ids_;
  for (Position& id : ids_) id /= 4;
  const Mask window{.causal = true, .window = 11, .sinks = 2};
  Mask by_index = window;
  by_index.by_index = true;
  expect_equal(merged(alibi, window, places), whole(alibi, by_index));
}

TEST_F(ShardsOfKeys, RefusePlacesThatDoNotMatch) {
  const Encoding nope("nope");
  std::vector<float> output, lse;
  AttentionCall one = call(nope, 0, shard_tokens, output, lse);
  const std::vector<Position> few(3, 0);
  EXPECT_THROW(attend_shard(one, {.query_places = few, .key_places = ids_}), Error);
  EXPECT_THROW(attend_shard(one, {.query_places = ids_}), Error);
  one.mask.by_index = true;
  EXPECT_THROW(attend_shard(one, {.query_places = ids_, .key_places = ids_}), Error);
}

}  // namespace
}  // namespace locus
