// SPDX-License-Identifier: Apache-2.0
// attend() against the materialised reference: shapes, element types, masks, sites, on every SIMD target.
#include "attention_check.h"
#include "support/on_every_target.h"

namespace locus::testing {
namespace {

class Attend : public OnEveryTarget {};
LOCUS_ON_EVERY_TARGET(Attend);

TEST_P(Attend, ManyShapes) {
  Random dice(7);
  for_every_type([&](auto zero) {
    using T = decltype(zero);
    for (int round = 0; round < 10; ++round) {
      const std::int64_t key_heads = 1 + dice.between(0, 2), group = 1 + dice.between(0, 2);
      const Extents e{.batch = 1 + dice.between(0, 1),
                      .queries = 1 + dice.between(0, 40),
                      .keys = 1 + dice.between(0, 60),
                      .heads = key_heads * group,
                      .key_heads = key_heads,
                      .dim = 1 + dice.between(0, 40)};
      Tensors<T> t(e, static_cast<std::uint64_t>(round), 4, dice.between(0, 1) == 1);
      t.call.mask.causal = dice.between(0, 1) == 1;
      expect_matches_reference(t);
    }
  });
}

// At the boundaries of blocks (120 and 60 queries, 128 and 64 keys) and of panels.
TEST_P(Attend, EdgesOfBlocks) {
  for (const std::int64_t n : {59, 61, 119, 121, 127, 128, 129, 250}) {
    for (const bool causal : {false, true}) {
      Tensors<float> t({.queries = n, .keys = n + 3, .dim = 16}, static_cast<std::uint64_t>(n), 6);
      t.call.mask.causal = causal;
      expect_matches_reference(t);
    }
  }
}

TEST_P(Attend, HeadDims) {
  for (const std::int64_t dim : {8, 15, 16, 17, 64, 80, 96, 128, 192, 256}) {
    Tensors<float> t({.queries = 9, .keys = 33, .heads = 2, .key_heads = 1, .dim = dim}, 3, 4);
    expect_matches_reference(t);
    Tensors<BFloat16> half({.queries = 9, .keys = 33, .heads = 2, .key_heads = 1, .dim = dim}, 3, 4);
    expect_matches_reference(half);
  }
}

// Scores of several hundred among small ones: the same rows meet blocks whose scores need a maximum and blocks whose
// scores do not, in either order.
TEST_P(Attend, SmallAndLargeScores) {
  const Encoding alibi("alibi", {{"heads", std::int64_t{1}}, {"form", "symmetric"}});
  for (const std::int64_t large : {0, 130, 299}) {
    for (const bool biased : {false, true}) {
      Tensors<float> t({.queries = 131, .keys = 300, .dim = 16}, static_cast<std::uint64_t>(large), 1);
      for (std::size_t j = 0; j < 16; ++j) t.k[static_cast<std::size_t>(large) * 16 + j] *= 300;
      t.call.encoding = biased ? &alibi : nullptr;
      expect_matches_reference(t);
      t.call.mask.causal = true;
      expect_matches_reference(t);
    }
  }
}

struct NamedMask {
  std::string name;
  Mask mask;
};

std::vector<NamedMask> masks(std::int64_t queries, std::int64_t keys) {
  static std::vector<std::uint8_t> padding, pairs;
  Random dice(5);
  padding.assign(static_cast<std::size_t>(keys), 1);
  for (std::size_t i = 0; i < padding.size(); ++i)
    padding[i] = i > 4 && i + 3 < padding.size() && dice.between(0, 3) > 0;
  pairs.clear();
  for (std::int64_t i = 0; i < queries * keys; ++i) pairs.push_back(i / keys % 7 == 2 ? 0 : dice.between(0, 2) > 0);
  return {{"full", {}},
          {"causal", {.causal = true}},
          {"causal by index", {.causal = true, .by_index = true}},
          {"prefix", {.causal = true, .prefix = 11}},
          {"window", {.causal = true, .window = 9}},
          {"window both ways", {.window = 9}},
          {"window and sinks", {.causal = true, .window = 9, .sinks = 3}},
          {"window, sinks and prefix", {.causal = true, .prefix = 20, .window = 12, .sinks = 4}},
          {"wide window and sinks", {.window = 40, .sinks = 7}},
          {"padding", {.keys = padding}},
          {"causal padding", {.causal = true, .keys = padding}},
          {"pairs", {.pairs = pairs}},
          {"custom", {.causal = true, .custom = [](std::int64_t b, std::int64_t h, std::int64_t q, std::int64_t k) {
                        return (q + k + b + h) % 3 != 0;
                      }}}};
}

std::vector<Encoding> encodings(std::int64_t heads, std::int64_t dim) {
  return {
      Encoding("nope"),
      Encoding("alibi", {{"heads", heads}}),
      Encoding("alibi", {{"heads", heads}, {"form", "symmetric"}}),
      Encoding("alibi", {{"heads", heads}, {"form", "bloom"}}),
      Encoding("alibi", {{"heads", heads}, {"form", "falcon"}}),
      Encoding("t5", {{"heads", heads}, {"deviation", 2.0}}),
      Encoding("kerple", {{"heads", heads}}),
      Encoding("sandwich", {{"heads", heads}}),
      Encoding("shaw",
               {{"heads", heads}, {"head_dim", dim}, {"clip_left", std::int64_t{12}}, {"clip_right", std::int64_t{5}}}),
      Encoding("shaw", {{"heads", heads},
                        {"head_dim", dim},
                        {"values", true},
                        {"scaled", false},
                        {"meets_key", true},
                        {"index", "query_minus_key"},
                        {"deviation", 0.5}}),
      Encoding("transformer_xl", {{"heads", heads}, {"head_dim", dim}, {"deviation", 0.3}})};
}

// Advancing ids use the window, others the lookup by difference or by pair; all are compared with the reference.
enum class Ids { absent, advancing, striped, scattered };

template <class T>
void check_sites(std::int64_t queries, std::int64_t keys, Ids kind, std::int64_t heads = 3) {
  const std::int64_t dim = 11;
  for (const Encoding& encoding : encodings(heads, dim)) {
    SCOPED_TRACE(encoding.scheme().name);
    for (const NamedMask& named : masks(queries, keys)) {
      SCOPED_TRACE(named.name);
      Tensors<T> t({.queries = queries, .keys = keys, .heads = heads, .key_heads = 1, .dim = dim}, 11, 2);
      std::vector<Position> query_ids = ids_from(keys - queries + 100, queries), key_ids = ids_from(100, keys);
      Random dice(3);
      if (kind == Ids::striped) {
        for (std::int64_t i = 0; i < queries; ++i) query_ids[static_cast<std::size_t>(i)] = 3 * i + 1;
        for (std::int64_t i = 0; i < keys; ++i) key_ids[static_cast<std::size_t>(i)] = 2 * i;
      } else if (kind == Ids::scattered) {
        for (Position& id : query_ids) id = dice.between(0, 1) * 1'000'000 + dice.between(0, 50);
        for (Position& id : key_ids) id = dice.between(0, 1) * 1'000'000 + dice.between(0, 50);
      }
      if (kind != Ids::absent) {
        t.call.query_ids = query_ids;
        t.call.key_ids = key_ids;
      }
      t.call.encoding = &encoding;
      t.call.mask = named.mask;
      expect_matches_reference(t);
    }
  }
}

TEST_P(Attend, EverySiteAndMask) { check_sites<float>(23, 40, Ids::absent); }
TEST_P(Attend, EverySiteAndMaskWithIds) { check_sites<float>(17, 17, Ids::advancing); }
TEST_P(Attend, EverySiteAndMaskOfOneQuery) { check_sites<float>(1, 37, Ids::absent); }
TEST_P(Attend, EverySiteAndMaskWithStripedIds) { check_sites<float>(13, 20, Ids::striped); }
TEST_P(Attend, EverySiteAndMaskWithScatteredIds) { check_sites<float>(9, 14, Ids::scattered); }
TEST(AttendOnce, EverySiteAndMaskInFloat64) { check_sites<double>(9, 14, Ids::absent); }
TEST(AttendOnce, EverySiteAndMaskInBFloat16) { check_sites<BFloat16>(9, 14, Ids::advancing); }
TEST(AttendOnce, EverySiteAndMaskInFloat16) { check_sites<Float16>(9, 14, Ids::striped); }
// Several blocks both ways, with a window that cuts through them.
TEST(AttendOnce, EverySiteAndMaskOverBlocks) { check_sites<float>(125, 135, Ids::absent, 1); }

// The same pairs by window, by difference and by pair: moving one masked key away from its position disables the
// window, and a distance of 2^30 disables the vector by difference.
TEST_P(Attend, WindowAndLookupsAgree) {
  const std::int64_t n = 70;
  const Extents e{.queries = n, .keys = n, .heads = 2, .key_heads = 2, .dim = 16};
  for (const std::string scheme : {"t5", "alibi", "kerple", "shaw", "transformer_xl"}) {
    SCOPED_TRACE(scheme);
    Arguments arguments{{"heads", std::int64_t{2}}};
    if (scheme == "shaw" || scheme == "transformer_xl") arguments.set("head_dim", std::int64_t{16});
    const Encoding encoding(scheme, arguments);
    std::vector<std::uint8_t> all_but_first(static_cast<std::size_t>(n), 1);
    std::vector<std::uint8_t> pairs(static_cast<std::size_t>(n * n), 1);
    for (std::int64_t i = 0; i < n; ++i) pairs[static_cast<std::size_t>(i * n)] = 0;
    const reference::Attention* want = nullptr;
    reference::Attention kept;
    for (const Position first : {Position{0}, Position{500}, Position{1} << 30}) {
      Tensors<float> t(e, 5, 2);
      const std::vector<Position> query_ids = ids_from(0, n);
      std::vector<Position> key_ids = ids_from(0, n);
      key_ids[0] = first;  // masked: only its position differs
      t.call.query_ids = query_ids;
      t.call.key_ids = key_ids;
      t.call.mask.pairs = pairs;
      t.call.encoding = &encoding;
      if (want == nullptr) {
        kept = reference::attend(t.call);
        want = &kept;
      }
      attend(t.call);
      EXPECT_LE(error_over_bound(t, *want), 1.0) << first;
    }
  }
}

TEST_P(Attend, SoftCapSinksAndScales) {
  const std::vector<float> sinks{0.5f, -3.0f, 9.0f, 0.0f};
  const Encoding t5("t5", {{"heads", std::int64_t{4}}, {"deviation", 1.0}});
  for (const std::int64_t queries : {1, 30}) {
    for (const double cap : {0.0, 0.7, 30.0}) {
      for (const bool with_sinks : {false, true}) {
        for (const Encoding* encoding : {static_cast<const Encoding*>(nullptr), &t5}) {
          Tensors<float> t({.queries = queries, .keys = 33, .heads = 4, .key_heads = 2, .dim = 24}, 9, 5);
          t.call.soft_cap = cap;
          if (with_sinks) t.call.sink_logits = sinks;
          t.call.scale_factor = 1.3;
          t.call.encoding = encoding;
          t.call.mask.causal = true;
          expect_matches_reference(t);
        }
      }
    }
  }
  Tensors<float> t({.queries = 5, .keys = 7}, 9, 3);
  t.call.scale = 0.25;
  expect_matches_reference(t);
}

// Only a sink: no key is visible, the output is 0, and the log-sum-exp is the sink's.
TEST(AttendOnce, RowsWithoutVisibleKeys) {
  const std::vector<std::uint8_t> none(7, 0);
  const std::vector<float> sinks{1.5f};
  for (const std::int64_t queries : {1, 4}) {
    for (const bool with_sink : {false, true}) {
      Tensors<float> t({.queries = queries, .keys = 7});
      t.call.mask.keys = none;
      if (with_sink) t.call.sink_logits = sinks;
      attend(t.call);
      for (const float x : t.out) EXPECT_EQ(x, 0.0f);
      for (const float x : t.lse) {
        if (with_sink) {
          EXPECT_NEAR(static_cast<double>(x), 1.5, lse_bound<float>(t.e, 0, 1.5));
        } else {
          EXPECT_EQ(x, -std::numeric_limits<float>::infinity());
        }
      }
    }
  }
}

// By hand: scores 0 and ln 3 have the weights 1/4 and 3/4; the sum of e^score is 4.
TEST_P(Attend, WorkedByHand) {
  for_every_type([](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t queries : {1, 2}) {
      Tensors<T> t({.queries = queries, .keys = 2, .dim = 1});
      for (T& q : t.q) q = element<T>(1.0);
      t.k = {element<T>(0.0), element<T>(std::log(3.0))};
      t.v = {element<T>(4.0), element<T>(8.0)};
      t.call.key.data = t.k.data();
      t.call.value.data = t.v.data();
      attend(t.call);
      // The key is ln 3 rounded to T, and weights change by 3/16 of the rounding; the bound of attention.h covers the
      // rest.
      const double rounded = half_ulp<T>(std::log(3.0));
      const double bound = rounded_error<T>(7.0, output_bound<T>(t.e, 1.1, 8.0) + 4 * 3.0 / 16 * rounded * 1.1);
      EXPECT_NEAR(value_of(t.out[0]), 0.25 * 4 + 0.75 * 8, bound);
      EXPECT_NEAR(static_cast<double>(t.lse[0]), std::log(4.0), lse_bound<T>(t.e, 1.1, std::log(4.0)) + rounded);
    }
  });
}

TEST(AttendOnce, ProbabilitiesOfChosenQueries) {
  const Encoding kerple("kerple", {{"heads", std::int64_t{2}}});
  const std::vector<std::int64_t> wanted{4, 0};
  const std::vector<std::int64_t> boundaries{0, 3, 6}, key_boundaries{0, 4, 9};
  Tensors<float> t({.batch = 2, .queries = 6, .keys = 9, .heads = 2, .key_heads = 1}, 3, 4);
  std::vector<float> rows(2 * 2 * 2 * 9, 77.0f);
  t.call.encoding = &kerple;
  t.call.mask.causal = true;
  t.call.query_boundaries = boundaries;
  t.call.key_boundaries = key_boundaries;
  t.call.rows_wanted = wanted;
  t.call.probabilities = rows.data();
  expect_matches_reference(t);
  const reference::Attention want = reference::attend(t.call);
  std::size_t at = 0;
  for (std::size_t head = 0; head < 4; ++head) {
    for (const std::int64_t query : wanted) {
      for (std::size_t key = 0; key < 9; ++key, ++at) {
        const double exact = want.probabilities[(head * 6 + static_cast<std::size_t>(query)) * 9 + key];
        EXPECT_NEAR(static_cast<double>(rows[at]), exact, exact * 0x1p-24 + 1e-14);  // one rounding of a double result
      }
    }
  }
}

}  // namespace
}  // namespace locus::testing
