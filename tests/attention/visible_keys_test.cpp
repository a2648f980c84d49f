// SPDX-License-Identifier: Apache-2.0
// Compares the keys that a query sees with an independent definition of Mask, which shares nothing with the library
// or its reference. Queries are zero and value j is the j-th unit vector, so the output of a query that sees n keys
// is 1/n at each of them and 0 elsewhere.
#include <optional>

#include "attention_check.h"
#include "locus/attention_backward.h"

namespace locus::testing {
namespace {

using Int = std::int64_t;

struct Case {
  Int queries = 0, keys = 0;
  std::vector<Position> query_ids = {}, key_ids = {};  // both empty: indices
  bool causal = false, by_index = false;
  Int prefix = 0, window = 0, sinks = 0;
  std::vector<std::uint8_t> padding = {}, pairs = {};
  std::vector<Int> query_ends = {}, key_ends = {};  // packed documents

  Mask mask() const {
    return {.causal = causal,
            .by_index = by_index,
            .prefix = prefix,
            .window = window,
            .sinks = sinks,
            .keys = padding,
            .pairs = pairs};
  }

  void print() const {
    std::cout << "causal " << causal << " by_index " << by_index << " prefix " << prefix << " window " << window
              << " sinks " << sinks << "\nqueries:";
    for (const Position id : query_ids) std::cout << " " << id;
    std::cout << "\nkeys:";
    for (const Position id : key_ids) std::cout << " " << id;
    std::cout << "\n";
  }
};

// ---- the definition

struct Spot {
  Int document = 0, index = 0;
};

Spot spot(const std::vector<Int>& ends, Int token) {
  if (ends.empty()) return {0, token};
  Int document = 0;
  for (std::size_t d = 1; d + 1 < ends.size(); ++d) {
    if (token >= ends[d]) document = static_cast<Int>(d);
  }
  return {document, token - ends[static_cast<std::size_t>(document)]};
}

Int size(const std::vector<Int>& ends, Int document, Int all) {
  if (ends.empty()) return all;
  return ends[static_cast<std::size_t>(document + 1)] - ends[static_cast<std::size_t>(document)];
}

bool is_visible(const Case& c, Int query, Int key) {
  const Spot q = spot(c.query_ends, query), k = spot(c.key_ends, key);
  if (q.document != k.document) return false;
  // The last query of a document is at its last key.
  const Int behind = size(c.key_ends, k.document, c.keys) - size(c.query_ends, q.document, c.queries);
  const bool indices = c.by_index || c.query_ids.empty();
  const Int a = indices ? q.index + behind : c.query_ids[static_cast<std::size_t>(query)];
  const Int b = indices ? k.index : c.key_ids[static_cast<std::size_t>(key)];
  bool visible = true;
  if (c.causal) {
    bool allowed = b <= a;
    for (Int place = 0; place < c.prefix; ++place) allowed |= b == place;
    visible &= allowed;
  }
  if (c.window > 0) {
    bool allowed = b > a ? b - a < c.window : a - b < c.window;
    for (Int place = 0; place < c.sinks; ++place) allowed |= b == place;
    visible &= allowed;
  }
  if (!c.padding.empty()) visible &= c.padding[static_cast<std::size_t>(key)] != 0;
  if (!c.pairs.empty()) visible &= c.pairs[static_cast<std::size_t>(query * c.keys + key)] != 0;
  return visible;
}

// ---- the keys that attend() uses

template <class T>
std::vector<std::vector<double>> weights(const Case& c, bool reference_instead = false) {
  Tensors<T> t({.queries = c.queries, .keys = c.keys, .dim = c.keys});
  std::fill(t.q.begin(), t.q.end(), element<T>(0.0));
  for (std::size_t i = 0; i < t.v.size(); ++i) {
    t.v[i] = element<T>(i / static_cast<std::size_t>(c.keys) == i % static_cast<std::size_t>(c.keys) ? 1.0 : 0.0);
  }
  t.call.mask = c.mask();
  t.call.query_ids = c.query_ids;
  t.call.key_ids = c.key_ids;
  t.call.query_boundaries = c.query_ends;
  t.call.key_boundaries = c.key_ends;
  std::vector<std::vector<double>> rows;
  if (!reference_instead) attend(t.call);
  const reference::Attention want = reference_instead ? reference::attend(t.call) : reference::Attention{};
  for (Int query = 0; query < c.queries; ++query) {
    rows.emplace_back();
    for (Int key = 0; key < c.keys; ++key) {
      rows.back().push_back(reference_instead ? want.output[static_cast<std::size_t>(query * c.keys + key)]
                                              : t.output(0, 0, query, key));
    }
  }
  return rows;
}

void expect_definition(const Case& c, const std::vector<std::vector<double>>& got, const char* path) {
  for (Int query = 0; query < c.queries; ++query) {
    double seen = 0;
    for (Int key = 0; key < c.keys; ++key) seen += is_visible(c, query, key) ? 1 : 0;
    for (Int key = 0; key < c.keys; ++key) {
      const double weight = got[static_cast<std::size_t>(query)][static_cast<std::size_t>(key)];
      if (is_visible(c, query, key)) {
        EXPECT_NEAR(weight, 1 / seen, 1e-5) << path << ": query " << query << " must see key " << key;
      } else {
        EXPECT_EQ(weight, 0.0) << path << ": query " << query << " must not see key " << key;
      }
    }
  }
}

// The gradient of the values is, for each key, the sum of its weights.
void expect_gradient(const Case& c) {
  Tensors<float> t({.queries = c.queries, .keys = c.keys, .dim = c.keys});
  std::fill(t.q.begin(), t.q.end(), 0.0f);
  t.call.mask = c.mask();
  t.call.query_ids = c.query_ids;
  t.call.key_ids = c.key_ids;
  t.call.query_boundaries = c.query_ends;
  t.call.key_boundaries = c.key_ends;
  attend(t.call);
  std::vector<float> ones(t.q.size(), 1.0f), dq(t.q.size()), dk(t.k.size()), dv(t.v.size());
  AttentionGradientCall call{.forward = t.call,
                             .output_gradient = t.call.query,
                             .query_gradient = t.call.query,
                             .key_gradient = t.call.key,
                             .value_gradient = t.call.value};
  call.output_gradient.data = ones.data();
  call.query_gradient.data = dq.data();
  call.key_gradient.data = dk.data();
  call.value_gradient.data = dv.data();
  attend_backward(call);
  std::vector<double> want(static_cast<std::size_t>(c.keys), 0.0);
  for (Int query = 0; query < c.queries; ++query) {
    double seen = 0;
    for (Int key = 0; key < c.keys; ++key) seen += is_visible(c, query, key) ? 1 : 0;
    for (Int key = 0; key < c.keys; ++key) {
      if (is_visible(c, query, key)) want[static_cast<std::size_t>(key)] += 1 / seen;
    }
  }
  for (Int key = 0; key < c.keys; ++key) {
    EXPECT_NEAR(dv[static_cast<std::size_t>(key * c.keys)], want[static_cast<std::size_t>(key)], 1e-4) << "key " << key;
  }
}

Case only_query(Case c, Int query) {
  if (!c.query_ids.empty()) c.query_ids = {c.query_ids[static_cast<std::size_t>(query)]};
  if (!c.pairs.empty()) {
    c.pairs = std::vector<std::uint8_t>(c.pairs.begin() + query * c.keys, c.pairs.begin() + (query + 1) * c.keys);
  }
  c.queries = 1;
  return c;
}

void check(const Case& c) {
  expect_definition(c, weights<float>(c), "float32");
  expect_definition(c, weights<double>(c), "float64");
  if (c.queries * c.keys < 1000) expect_definition(c, weights<double>(c, true), "reference");  // it is slow
  expect_gradient(c);
  if (c.query_ends.empty() && c.queries > 0) {
    const Case one = only_query(c, c.queries - 1);
    expect_definition(one, weights<float>(one), "decode");
  }
  if (::testing::Test::HasFailure()) c.print();
}

// ---- random cases

std::vector<Position> some_ids(Dice& dice, Int count) {
  constexpr Int last = (Int{1} << 31) - 1;
  const Int around[] = {0, -count / 2, -3 * count, last - count, -last, 100};
  const Int kind = dice.upto(4), first = around[dice.upto(5)];
  std::vector<Position> ids;
  for (Int i = 0; i < count; ++i) {
    if (kind == 0) ids.push_back(first + i);                                              // advancing
    if (kind == 1) ids.push_back(first + i / 3);                                          // repeated
    if (kind == 2) ids.push_back(first + dice.upto(count));                               // in no order
    if (kind == 3) ids.push_back(first == last - count ? first + i / 2 : first + 2 * i);  // with gaps
    if (kind == 4) ids.push_back(dice.upto(1) == 0 ? -last + i : last - i);               // both ends of the range
    if (ids.back() < -last) ids.back() = -last;
    if (ids.back() > last) ids.back() = last;
  }
  return ids;
}

Case random_case(Dice& dice) {
  Case c;
  const Int most = dice.upto(49) == 0 ? 150 : 24;  // sometimes more than one tile
  c.queries = 1 + dice.upto(most);
  c.keys = 1 + dice.upto(most);
  c.causal = dice.upto(3) > 0;
  c.by_index = dice.upto(3) == 0;
  if (dice.upto(3) > 0) {
    c.key_ids = some_ids(dice, c.keys);
    c.query_ids = some_ids(dice, c.queries);
    if (dice.upto(1) == 0) {  // queries are among the keys
      for (Position& id : c.query_ids) id = c.key_ids[static_cast<std::size_t>(dice.upto(c.keys - 1))];
      if (dice.upto(1) == 0) std::sort(c.query_ids.begin(), c.query_ids.end());
    }
  }
  if (c.causal && dice.upto(2) == 0) c.prefix = dice.upto(most);
  if (dice.upto(2) > 0) {
    c.window = 1 + dice.upto(most);
    if (dice.upto(9) == 0) c.window = std::numeric_limits<Int>::max();
    if (dice.upto(1) == 0) c.sinks = dice.upto(most / 2);
  }
  const auto bits = [&](Int count) {
    std::vector<std::uint8_t> mask;
    for (Int i = 0; i < count; ++i) mask.push_back(dice.upto(4) > 0);
    return mask;
  };
  if (dice.upto(3) == 0) c.padding = bits(c.keys);
  if (dice.upto(4) == 0) c.pairs = bits(c.queries * c.keys);
  if (dice.upto(3) == 0) {
    const auto cuts = [&](Int tokens, Int documents) {
      std::vector<Int> ends{0, tokens};
      while (static_cast<Int>(ends.size()) < documents + 1) ends.push_back(dice.upto(tokens));
      std::sort(ends.begin(), ends.end());
      return ends;
    };
    const Int documents = 1 + dice.upto(3);
    c.query_ends = cuts(c.queries, documents);
    c.key_ends = cuts(c.keys, documents);
  }
  return c;
}

TEST(VisibleKeys, FollowTheDefinitionForAnyIds) {
  Dice dice(2026);
  for (int i = 0; i < 600 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    check(random_case(dice));
  }
}

TEST(VisibleKeys, CausalMasksHideTheFutureAtNegativePositions) {
  Case c{.queries = 6, .keys = 6, .causal = true};
  c.query_ids = c.key_ids = {-6, -5, -4, -3, -2, -1};
  check(c);
  c.window = 2;
  check(c);
}

TEST(VisibleKeys, PrefixAndSinksBeginAtPlaceZero) {
  Case c{.queries = 8, .keys = 8, .causal = true, .prefix = 2};
  c.query_ids = c.key_ids = {-4, -3, -2, -1, 0, 1, 2, 3};
  check(c);
  c.prefix = 0;
  c.window = 2;
  c.sinks = 2;
  check(c);
  EXPECT_FALSE(is_visible(c, 7, 0));
  EXPECT_TRUE(is_visible(c, 7, 4));
}

// Every visible key has its bias, also at negative positions.
TEST(VisibleKeys, FutureKeysOfAPrefixHaveTheirBias) {
  const Encoding encoding("alibi", {{"heads", Int{1}}, {"form", "symmetric"}});
  for (const Position first : {Position{-4}, Position{0}}) {
    const std::vector<Position> ids = ids_from(first, 8);
    Tensors<float> t({.queries = 8, .keys = 8, .dim = 8});
    std::fill(t.q.begin(), t.q.end(), 0.0f);
    t.call.encoding = &encoding;
    t.call.mask = {.causal = true, .prefix = 2};
    t.call.query_ids = t.call.key_ids = ids;
    std::vector<std::int64_t> rows{0, 1, 2, 3, 4, 5, 6, 7};
    std::vector<float> got(64);
    t.call.rows_wanted = rows;
    t.call.probabilities = got.data();
    attend(t.call);
    for (std::size_t i = 0; i < 8; ++i) {
      double total = 0;
      const auto weight = [&](std::size_t j) {  // one head: its slope is 2^-8
        const bool visible = j <= i || ids[j] == 0 || ids[j] == 1;
        const double distance = std::fabs(static_cast<double>(ids[i] - ids[j]));
        return visible ? std::exp(-distance / 256) : 0.0;
      };
      for (std::size_t j = 0; j < 8; ++j) total += weight(j);
      EXPECT_NEAR(t.lse[i], std::log(total), 1e-5) << i;
      for (std::size_t j = 0; j < 8; ++j) EXPECT_NEAR(got[i * 8 + j], weight(j) / total, 1e-6) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace locus::testing
