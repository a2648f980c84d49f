// SPDX-License-Identifier: Apache-2.0
// The same tokens, packed, padded, chunked, decoded, sharded, skipped or spread over threads, give the same result.
//
// Two results of attend() may each be off by the bound of attention.h, so they may differ by twice that. If the
// arithmetic must be the same, bits are compared.
#include "attention_check.h"
#include "locus/positions.h"

namespace locus::testing {
namespace {

/// Tokens [first, first + count) of every head of a view.
HeadsView tokens_of(HeadsView view, std::int64_t first, std::int64_t count) {
  view.data =
      static_cast<std::byte*>(view.data) + first * view.token_stride * static_cast<std::int64_t>(size_of(view.type));
  view.tokens = count;
  return view;
}

std::vector<Encoding> small_encodings(std::int64_t heads, std::int64_t dim) {
  return {Encoding("nope"),
          Encoding("alibi", {{"heads", heads}}),
          Encoding("t5", {{"heads", heads}, {"bidirectional", false}, {"deviation", 1.0}}),
          Encoding("kerple", {{"heads", heads}}),
          Encoding("shaw", {{"heads", heads}, {"head_dim", dim}, {"values", true}, {"deviation", 0.4}}),
          Encoding("transformer_xl", {{"heads", heads}, {"head_dim", dim}, {"deviation", 0.3}})};
}

/// A causal call over `n` tokens with each encoding.
template <class T, class Check>
void for_every_encoding(std::int64_t n, const Check& check) {
  const Extents e{.queries = n, .keys = n, .heads = 4, .key_heads = 2, .dim = 16};
  for (const Encoding& encoding : small_encodings(e.heads, e.dim)) {
    SCOPED_TRACE(encoding.scheme().name);
    Tensors<T> whole(e, 21, 4);
    whole.call.encoding = &encoding;
    whole.call.mask.causal = true;
    check(whole);
  }
}

TEST(Equivalence, ChunkedPrefillIsTheWhole) {
  for_every_encoding<float>(150, [](Tensors<float>& t) {
    const reference::Attention want = reference::attend(t.call);
    const AttentionCall whole = t.call;
    std::vector<float> lse(t.lse.size());
    for (std::int64_t first = 0; first < 150;) {
      const std::int64_t count = std::min<std::int64_t>(first == 0 ? 67 : 29, 150 - first);
      t.call.query = tokens_of(whole.query, first, count);
      t.call.output = tokens_of(whole.output, first, count);
      t.call.key = tokens_of(whole.key, 0, first + count);
      t.call.value = tokens_of(whole.value, 0, first + count);
      std::vector<float> part_lse(static_cast<std::size_t>(4 * count));
      t.call.log_sum_exp = part_lse.data();
      attend(t.call);
      for (std::int64_t h = 0; h < 4; ++h) {
        std::copy_n(part_lse.begin() + h * count, count, t.lse.begin() + h * 150 + first);
      }
      first += count;
    }
    t.call = whole;
    EXPECT_LE(error_over_bound(t, want, true), 1.0);
  });
}

TEST(Equivalence, OneTokenAtATimeIsTheWhole) {
  for_every_encoding<float>(70, [](Tensors<float>& t) {
    const reference::Attention want = reference::attend(t.call);
    const AttentionCall whole = t.call;
    for (std::int64_t i = 0; i < 70; ++i) {
      t.call.query = tokens_of(whole.query, i, 1);
      t.call.output = tokens_of(whole.output, i, 1);
      t.call.key = tokens_of(whole.key, 0, i + 1);
      t.call.value = tokens_of(whole.value, 0, i + 1);
      std::vector<float> lse(4);
      t.call.log_sum_exp = lse.data();
      attend(t.call);
      for (std::int64_t h = 0; h < 4; ++h)
        t.lse[static_cast<std::size_t>(h * 70 + i)] = lse[static_cast<std::size_t>(h)];
    }
    t.call = whole;
    EXPECT_LE(error_over_bound(t, want), 1.0);
  });
}

// Each document is computed separately, so packed and separate documents have the same bits.
TEST(Equivalence, PackedIsSeparate) {
  for_every_encoding<BFloat16>(150, [](Tensors<BFloat16>& t) {
    const AttentionCall whole = t.call;
    const std::vector<std::int64_t> boundaries{0, 1, 80, 80, 131, 150};
    std::vector<BFloat16> packed;
    for (const bool with_ids : {false, true}) {
      const PositionIds ids = positions::packed_from_cumulative(boundaries);
      t.call.query_boundaries = t.call.key_boundaries = boundaries;
      if (with_ids) t.call.query_ids = t.call.key_ids = ids.ids;
      attend(t.call);
      if (with_ids) {
        EXPECT_TRUE(same_bits(packed, t.out));
      }
      packed = t.out;
    }
    std::fill(t.out.begin(), t.out.end(), BFloat16{});
    t.call = whole;
    t.call.log_sum_exp = nullptr;
    for (std::size_t i = 1; i < boundaries.size(); ++i) {
      const std::int64_t first = boundaries[i - 1], count = boundaries[i] - first;
      t.call.query = tokens_of(whole.query, first, count);
      t.call.output = tokens_of(whole.output, first, count);
      t.call.key = tokens_of(whole.key, first, count);
      t.call.value = tokens_of(whole.value, first, count);
      attend(t.call);
    }
    EXPECT_TRUE(same_bits(packed, t.out));
  });
}

// Padding on either side with any content, even NaN.
TEST(Equivalence, PaddedIsUnpadded) {
  const std::vector<std::int64_t> lengths{90, 31, 1};
  const std::int64_t width = 97;
  for (const Encoding& encoding : small_encodings(2, 8)) {
    SCOPED_TRACE(encoding.scheme().name);
    for (const bool left : {true, false}) {
      const positions::Padded padded =
          left ? positions::left_padded(lengths, width) : positions::right_padded(lengths, width);
      Tensors<float> t({.batch = 3, .queries = width, .keys = width, .heads = 2, .key_heads = 2, .dim = 8}, 5, 3);
      for (std::size_t i = 0; i < padded.mask.size(); ++i) {
        for (std::size_t j = 0; j < 16 && padded.mask[i] == 0; ++j) {
          t.k[i * 16 + j] = t.v[i * 16 + j] = std::numeric_limits<float>::quiet_NaN();
        }
      }
      t.call.encoding = &encoding;
      t.call.mask = {.causal = true, .keys = padded.mask};
      t.call.query_ids = t.call.key_ids = padded.ids.ids;
      attend(t.call);
      for (std::int64_t b = 0; b < 3; ++b) {
        const std::int64_t n = lengths[static_cast<std::size_t>(b)], first = left ? width - n : 0;
        Tensors<float> alone({.queries = n, .keys = n, .heads = 2, .key_heads = 2, .dim = 8});
        const auto offset = static_cast<std::ptrdiff_t>((b * width + first) * 16);
        alone.q.assign(t.q.begin() + offset, t.q.begin() + offset + n * 16);
        alone.k.assign(t.k.begin() + offset, t.k.begin() + offset + n * 16);
        alone.v.assign(t.v.begin() + offset, t.v.begin() + offset + n * 16);
        alone.call.query.data = alone.q.data();
        alone.call.key.data = alone.k.data();
        alone.call.value.data = alone.v.data();
        alone.call.encoding = &encoding;
        alone.call.mask.causal = true;
        const reference::Attention want = reference::attend(alone.call);
        std::copy_n(t.out.begin() + offset, n * 16, alone.out.begin());
        for (std::int64_t h = 0; h < 2; ++h) {
          std::copy_n(t.lse.begin() + (b * 2 + h) * width + first, n, alone.lse.begin() + h * n);
        }
        EXPECT_LE(error_over_bound(alone, want, true), 1.0) << "row " << b << (left ? " left" : " right");
      }
    }
  }
}

// Merges shards of keys, each with its own softmax. The bound is that of attention.h plus what merge() adds.
TEST(Equivalence, MergedShardsAreTheWhole) {
  using positions::ShardKind;
  for (const ShardKind kind : {ShardKind::contiguous, ShardKind::striped, ShardKind::zigzag}) {
    for_every_encoding<float>(96, [&](Tensors<float>& t) {
      const reference::Attention want = reference::attend(t.call);
      const AttentionCall whole = t.call;
      const std::vector<Position> query_ids = ids_from(0, 96);
      const std::size_t row = 2 * 16;  // heads x dim of a key
      std::vector<std::vector<float>> outputs, lses;
      std::vector<PartialAttention> parts;
      outputs.reserve(4);
      lses.reserve(4);
      for (std::int64_t rank = 0; rank < 4; ++rank) {
        const PositionIds ids = positions::shard(kind, 96, 4, rank);
        std::vector<float> k, v;
        for (const Position id : ids.ids) {
          const auto at = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(id) * row);
          k.insert(k.end(), t.k.begin() + at, t.k.begin() + at + static_cast<std::ptrdiff_t>(row));
          v.insert(v.end(), t.v.begin() + at, t.v.begin() + at + static_cast<std::ptrdiff_t>(row));
        }
        outputs.emplace_back(t.out.size());
        lses.emplace_back(t.lse.size());
        t.call.key.data = k.data();
        t.call.value.data = v.data();
        t.call.key.tokens = t.call.value.tokens = 24;
        t.call.output.data = outputs.back().data();
        t.call.log_sum_exp = lses.back().data();
        t.call.query_ids = query_ids;
        t.call.key_ids = ids.ids;
        attend(t.call);
        parts.push_back({t.call.output, t.call.log_sum_exp});
      }
      t.call = whole;
      merge(parts, t.call.output, t.lse.data());
      // In units of the bound of one call; merging adds its own error, and the log-sum-exps of the parts affect the
      // weights twice.
      double largest = 1;
      for (const double lse : want.log_sum_exp) largest = std::max(largest, std::fabs(lse));
      double worst = 0;
      std::size_t entry = 0;
      for (std::int64_t h = 0; h < 4; ++h) {
        for (std::int64_t i = 0; i < 96; ++i) {
          const double s = want.magnitude[static_cast<std::size_t>(h * 96 + i)];
          const double v = largest_value(t.call);
          const double lse = 2 * lse_bound<float>(t.e, s, largest + s) * v;
          const double bound = output_bound<float>(t.e, s, v, true) + lse + (2 * (largest + s) + 5) * 0x1p-24 * v;
          for (std::int64_t j = 0; j < 16; ++j, ++entry) {
            worst = std::max(worst, std::fabs(t.output(0, h, i, j) - want.output[entry]) / bound);
          }
        }
      }
      EXPECT_LE(worst, 1.0);
    });
  }
}

TEST(Equivalence, MergeOfNothingIsNothing) {
  std::vector<float> a(8, 3.0f), b(8, 5.0f), out(8, 7.0f), lse{9.0f};
  const float none = -std::numeric_limits<float>::infinity(), zero = 0;
  const std::vector<std::int64_t> extents{1, 8};
  const auto view = [&](std::vector<float>& x) { return heads_view(x.data(), ElementType::float32, "td", extents); };
  merge(std::vector<PartialAttention>{{view(a), &none}, {view(b), &none}}, view(out), lse.data());
  EXPECT_EQ(out, std::vector<float>(8, 0.0f));
  EXPECT_EQ(lse[0], none);
  merge(std::vector<PartialAttention>{{view(a), &none}, {view(b), &zero}}, view(out), lse.data());
  EXPECT_EQ(out, b);
  EXPECT_EQ(lse[0], 0.0f);
}

TEST(Equivalence, SameBitsForAnyNumberOfThreads) {
  for_every_encoding<float>(250, [](Tensors<float>& t) {
    const AttentionWork work = attend(t.call);
    const std::vector<float> out = t.out, lse = t.lse;
    for (const int threads : {2, 3, 5}) {
      ThreadPool pool(threads);
      t.call.executor = &pool;
      std::fill(t.out.begin(), t.out.end(), 0.0f);
      const AttentionWork again = attend(t.call);
      EXPECT_TRUE(same_bits(out, t.out)) << threads;
      EXPECT_TRUE(same_bits(lse, t.lse)) << threads;
      EXPECT_EQ(work.computed, again.computed);
    }
  });
}

// Tiles of 60 queries x 64 keys of a causal call in which even the nearest pair has a bias below `least` (base 2).
std::int64_t tiles_beyond(std::int64_t n, double slope, double least) {
  std::int64_t count = 0;
  for (std::int64_t query = 0; query < n; query += 60) {
    for (std::int64_t end = 64; end <= query; end += 64) {
      count += -slope * static_cast<double>(query - (end - 1)) * std::log2(std::exp(1.0)) < least;
    }
  }
  return count;
}

// With steep slopes most blocks are skipped, and the result stays within its bound. Scores of these small queries are
// below 0.02, so a tile is negligible once its bias is below -26 - log2(keys); a bias above -26 is never enough.
TEST(Equivalence, SkippingStaysWithinItsBound) {
  const std::int64_t n = 500;
  for (const std::string form : {"causal", "symmetric"}) {
    const Encoding alibi("alibi", {{"heads", std::int64_t{2}}, {"form", form}, {"bias_max", 2.0}});
    Tensors<float> t({.queries = n, .keys = n, .heads = 2, .key_heads = 1, .dim = 8}, 5, 0.005);
    t.call.encoding = &alibi;
    t.call.mask.causal = form == "causal";
    const reference::Attention want = reference::attend(t.call);
    t.call.skip_irrelevant_blocks = false;
    const AttentionWork dense = attend(t.call);
    EXPECT_EQ(dense.skipped, 0);
    EXPECT_LE(error_over_bound(t, want), 1.0);
    t.call.skip_irrelevant_blocks = true;
    const AttentionWork sparse = attend(t.call);
    EXPECT_LE(error_over_bound(t, want, true), 1.0);
    if (form == "causal") {  // slopes 1/2 and 1/4
      EXPECT_GE(sparse.skipped, tiles_beyond(n, 0.5, -26 - 9 - 0.1) + tiles_beyond(n, 0.25, -26 - 9 - 0.1));
      EXPECT_LE(sparse.skipped, tiles_beyond(n, 0.5, -26 + 0.1) + tiles_beyond(n, 0.25, -26 + 0.1));
    }
    EXPECT_GT(sparse.skipped, sparse.computed);
  }
}

// Every tile with a visible key is computed or counted as skipped: as many as with slopes so flat that none is skipped.
TEST(Equivalence, SkippedTilesAreCounted) {
  const std::int64_t n = 700;
  for (const std::int64_t window : {0, 450}) {
    for (const std::string form : {"causal", "symmetric"}) {
      const auto work = [&](double bias_max) {
        const Encoding alibi("alibi", {{"heads", std::int64_t{1}}, {"form", form}, {"bias_max", bias_max}});
        Tensors<float> t({.queries = n, .keys = n, .dim = 8}, 5, 0.005);
        t.call.encoding = &alibi;
        t.call.mask.causal = form == "causal";
        t.call.mask.window = window;
        t.call.skip_irrelevant_blocks = true;
        return attend(t.call);
      };
      const AttentionWork flat = work(12.0), steep = work(1.0);  // slopes 2^-12 and 1/2
      EXPECT_EQ(flat.skipped, 0);
      EXPECT_GT(steep.skipped, 0);
      EXPECT_EQ(steep.computed + steep.skipped, flat.computed) << form << ", window " << window;
    }
  }
}

// The bound must also hold for queries that attend far away: a score of 509 at key
// 0 outweighs a bias of at most -300, while other queries see it at 17.
TEST(Equivalence, SkippingKeepsADistantKeyWithALargeScore) {
  const Encoding alibi("alibi", {{"heads", std::int64_t{1}}, {"bias_max", 1.0}});  // slope 1/2
  Tensors<float> t({.queries = 600, .keys = 600, .dim = 8}, 5, 1);
  for (std::size_t j = 0; j < 8; ++j) {
    t.k[j] = 60;                                                                        // key 0
    for (std::size_t i = 0; i < 600; ++i) t.q[i * 8 + j] = i % 50 == 49 ? 3.0f : 0.1f;  // some queries match it
  }
  t.call.encoding = &alibi;
  t.call.mask.causal = true;
  attend(t.call);
  EXPECT_LE(error_over_bound(t, reference::attend(t.call), true), 1.0);
}

}  // namespace
}  // namespace locus::testing
