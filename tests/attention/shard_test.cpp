// SPDX-License-Identifier: Apache-2.0
// Attention over shards of the keys, merged, is attention over all of them: with places in the whole, and with gates that
// are counted from shard to shard. Their gradients add up to those of the whole in double.
#include "locus/attention_shard.h"

#include <gtest/gtest.h>

#include <algorithm>
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

/// The gradients of a call, in one type.
template <class T>
struct ShardGradients {
  explicit ShardGradients(const Encoding& encoding)
      : table(static_cast<std::size_t>(table_size(encoding))), sinks(static_cast<std::size_t>(shard_heads)) {}
  static std::int64_t table_size(const Encoding& encoding) {
    const auto* keys = std::get_if<RelativeKeys>(&encoding.term());
    return keys == nullptr ? 0 : std::ssize(keys->key_table.data);
  }
  std::vector<T> query = rows(), key = rows(), value = rows();
  std::vector<double> table, sinks;

  static std::vector<T> rows() {
    return std::vector<T>(static_cast<std::size_t>(shard_tokens * shard_heads * shard_dim));
  }
};

class ShardsOfKeysBackward : public ShardsOfKeys {
 protected:
  template <class T>
  static HeadsView rows_of(std::vector<T>& rows, std::int64_t first, std::int64_t count) {
    const ElementType type = sizeof(T) == sizeof(float) ? ElementType::float32 : ElementType::float64;
    return heads_view(rows.data() + first * shard_heads * shard_dim, type, "thd", {{count, shard_heads, shard_dim}});
  }

  /// By attend_backward() in double, which finite differences check elsewhere.
  ShardGradients<double> exact(const Encoding& encoding, const Mask& mask) {
    const auto wide = [](const std::vector<float>& from) { return std::vector<double>(from.begin(), from.end()); };
    std::vector<double> q = wide(query_), k = wide(key_), v = wide(value_), g = wide(gradient_), o(q.size());
    AttentionCall all{.query = rows_of(q, 0, shard_tokens),
                      .key = rows_of(k, 0, shard_tokens),
                      .value = rows_of(v, 0, shard_tokens),
                      .output = rows_of(o, 0, shard_tokens),
                      .encoding = &encoding,
                      .query_ids = ids_,
                      .key_ids = ids_,
                      .mask = mask,
                      .sink_logits = sinks_};
    attend(all);
    ShardGradients<double> result(encoding);
    attend_backward({.forward = all,
                     .output_gradient = rows_of(g, 0, shard_tokens),
                     .query_gradient = rows_of(result.query, 0, shard_tokens),
                     .key_gradient = rows_of(result.key, 0, shard_tokens),
                     .value_gradient = rows_of(result.value, 0, shard_tokens),
                     .learned = {.sink_logits = result.sinks, .key_table = result.table}});
    return result;
  }

  /// Three shards of the keys, from the first to the last.
  ShardGradients<float> summed(const Encoding& encoding, const Mask& mask) {
    const bool counts = std::holds_alternative<RelativeKeys>(encoding.term());
    std::vector<float> output, lse;
    AttentionCall all = call(encoding, 0, shard_tokens, output, lse);
    all.mask = mask;
    all.sink_logits = sinks_;
    attend(all);
    std::vector<double> left(lse.size(), 0.0), before(lse.size(), 0.0);
    const std::int64_t ends[] = {0, 13, 37, shard_tokens};
    const auto part = [&](int shard) {
      AttentionCall one = all;
      const std::int64_t first = ends[shard], count = ends[shard + 1] - first;
      one.key = view(key_, first, count);
      one.value = view(value_, first, count);
      one.key_ids = std::span(ids_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
      if (shard > 0) one.sink_logits = {};
      return one;
    };
    for (const int shard : {1, 2, 0}) {
      if (counts) count_gates_shard(part(shard), {.gate_counts = left.data()});
    }
    ShardGradients<float> result(encoding), one(encoding);
    for (int shard = 0; shard < 3; ++shard) {
      const std::int64_t first = ends[shard], count = ends[shard + 1] - first;
      const AttentionGradientCall gradients{
          .forward = part(shard),
          .output_gradient = view(gradient_, 0, shard_tokens),
          .query_gradient = view(one.query, 0, shard_tokens),
          .key_gradient = view(result.key, first, count),
          .value_gradient = view(result.value, first, count),
          .learned = {.sink_logits = shard > 0 ? std::span<double>() : result.sinks, .key_table = one.table}};
      ShardOfKeys of;
      if (counts) of = {.gate_counts = left.data(), .count_gradients = before.data()};
      attend_backward_shard(gradients, of);
      for (std::size_t i = 0; i < one.query.size(); ++i) result.query[i] += one.query[i];
      for (std::size_t i = 0; i < one.table.size(); ++i) result.table[i] += one.table[i];
    }
    for (const double count : left) EXPECT_NEAR(count, 0, 1e-12);  // every gate was counted, and taken off again
    return result;
  }

  /// Beyond rounding, a lost or doubled share of one key in sixty is far outside.
  template <class Got, class Want>
  static void expect_near(const std::vector<Got>& got, const std::vector<Want>& want, const std::string& what) {
    double most = 0;
    for (const Want x : want) most = std::max(most, std::fabs(static_cast<double>(x)));
    ASSERT_EQ(got.size(), want.size()) << what;
    EXPECT_TRUE(want.empty() || most > 1e-3) << what;
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-5 * most) << what << ' ' << i;
  }

  void compare(const Encoding& encoding, const Mask& mask) {
    const ShardGradients<double> want = exact(encoding, mask);
    const ShardGradients<float> got = summed(encoding, mask);
    expect_near(got.query, want.query, "query");
    expect_near(got.key, want.key, "key");
    expect_near(got.value, want.value, "value");
    expect_near(got.table, want.table, "table");
    expect_near(got.sinks, want.sinks, "sink");
  }

  std::vector<float> gradient_ = value_, sinks_ = {0.5f, -1.0f};
};

TEST_F(ShardsOfKeysBackward, CountGatesOverTheWhole) {
  const Arguments plain{{"heads", shard_heads}, {"head_dim", shard_dim}, {"deviation", 0.5}};
  Arguments mixed = plain;
  mixed.set("gate_mix", Tensor{{2, 2}, {0.75f, 0.5f, -0.25f, 1.0f}});
  for (const Arguments& arguments : {plain, mixed}) {
    const Encoding cope("cope", arguments);
    for (const Mask& mask : {Mask{}, Mask{.causal = true}, Mask{.causal = true, .window = 20, .sinks = 3}}) {
      compare(cope, mask);
    }
  }
}

TEST_F(ShardsOfKeysBackward, RemapOffsets) {
  const Arguments rope{{"head_dim", shard_dim}, {"pairing", "half"}};
  const std::pair<const char*, std::vector<std::pair<const char*, std::int64_t>>> maps[] = {
      {"rerope", {{"window", 10}}},
      {"self_extend", {{"window", 8}, {"group", 4}}},
      {"dual_chunk", {{"chunk_size", 16}, {"local_size", 4}}}};
  for (const auto& [map, settings] : maps) {
    SCOPED_TRACE(map);
    Arguments arguments = rope;
    arguments.set("map", map);
    for (const auto& [name, value] : settings) arguments.set(name, value);
    compare(Encoding("offset_map", arguments), {.causal = true});
  }
}

TEST_F(ShardsOfKeysBackward, RefuseGatesWithoutCounts) {
  const Encoding cope("cope", {{"heads", shard_heads}, {"head_dim", shard_dim}}), nope("nope");
  std::vector<float> output, lse;
  const AttentionCall one = call(cope, 0, shard_tokens, output, lse), other = call(nope, 0, shard_tokens, output, lse);
  std::vector<double> counts(lse.size());
  ShardGradients<float> room(cope);
  const AttentionGradientCall gradients{.forward = one,
                                        .output_gradient = view(gradient_, 0, shard_tokens),
                                        .query_gradient = view(room.query, 0, shard_tokens),
                                        .key_gradient = view(room.key, 0, shard_tokens),
                                        .value_gradient = view(room.value, 0, shard_tokens)};
  EXPECT_THROW(attend_backward_shard(gradients, {}), Error);
  EXPECT_THROW(attend_backward_shard(gradients, {.gate_counts = counts.data()}), Error);
  EXPECT_THROW(count_gates_shard(one, {}), Error);
  EXPECT_THROW(count_gates_shard(other, {.gate_counts = counts.data()}), Error);
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
