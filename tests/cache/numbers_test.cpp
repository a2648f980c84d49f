// SPDX-License-Identifier: Apache-2.0
// Numbers that tokens bring, kept by the cache: attention over it equals attention over the whole.
#include <gtest/gtest.h>

#include "cache_tokens.h"
#include "support/error_of.h"

namespace locus::testing {
namespace {

constexpr std::int64_t count = 40, chunk = 7;

/// Gates' logarithms of all tokens, and their running sums, [tokens, heads, n].
struct Gates {
  explicit Gates(std::int64_t n) : numbers(n) {
    for (std::int64_t i = 0; i < count * heads * n; ++i) {
      gates.push_back(-std::fabs(std::sin(static_cast<double>(i) * 1.7)));
    }
    sums = running_sums(view(gates, 0, count));
  }
  HeadsView view(std::vector<double>& values, std::int64_t first, std::int64_t tokens) const {
    const std::int64_t extents[] = {tokens, heads, numbers};
    return heads_view(values.data() + first * heads * numbers, ElementType::float64, "thd", extents);
  }
  std::int64_t numbers;
  std::vector<double> gates, sums;
};

std::vector<float> attended(const Encoding& encoding, Gates& gates) {
  std::vector<float> q = tokens_of<float>(2000, count), k = tokens_of<float>(0, count),
                     v = tokens_of<float>(1000, count), out(q.size());
  AttentionCall call{.query = view_of(q), .key = view_of(k), .value = view_of(v), .output = view_of(out)};
  call.encoding = &encoding;
  call.mask.causal = true;
  call.query_numbers = call.key_numbers = gates.view(gates.sums, 0, count);
  attend(call);
  return out;
}

void expect_same(const std::vector<float>& got, const std::vector<float>& want, std::int64_t first) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], want[static_cast<std::size_t>(first * heads * dim) + i], 2e-6) << first << ", " << i;
  }
}

std::vector<float> attended_from(const KvCache& cache, SequenceId sequence, std::int64_t first, std::int64_t tokens) {
  std::vector<float> q = tokens_of<float>(2000 + first, tokens), out(q.size());
  const CachedQueries queries{.sequence = sequence, .query = view_of(q), .output = view_of(out)};
  cache.attend({.queries = std::span(&queries, 1)});
  return out;
}

class CachedNumbers : public ::testing::TestWithParam<std::int64_t> {
 protected:
  std::int64_t numbers_ = GetParam();
  Encoding encoding_{"forget_gate", {{"heads", heads}, {"bidirectional", numbers_ == 2}}};
  Gates gates_{numbers_};
  KvCache cache_{encoding_, {.capacity = 4 * count, .heads = heads, .head_dim = dim, .page_size = 16}};

  /// Appends tokens with running sums that go on from what the cache holds.
  void append_gated(SequenceId sequence, std::int64_t first, std::int64_t tokens) {
    std::vector<double> sums = running_sums(gates_.view(gates_.gates, first, tokens), cache_.last_numbers(sequence));
    std::vector<float> k = tokens_of<float>(first, tokens), v = tokens_of<float>(1000 + first, tokens);
    cache_.append(sequence, {.keys = view_of(k),
                             .values = view_of(v),
                             .ids = range(first, tokens),
                             .numbers = gates_.view(sums, 0, tokens)});
  }
};

INSTANTIATE_TEST_SUITE_P(OneOrTwo, CachedNumbers, ::testing::Values(1, 2));

TEST_P(CachedNumbers, WholeEqualsChunkedAndDecoded) {
  const std::vector<float> whole = attended(encoding_, gates_);
  for (const std::int64_t step : {count, chunk, std::int64_t{1}}) {
    const SequenceId sequence = cache_.create();
    for (std::int64_t first = 0; first < count; first += step) {
      const std::int64_t tokens = std::min(step, count - first);
      append_gated(sequence, first, tokens);
      expect_same(attended_from(cache_, sequence, first, tokens), whole, first);
    }
    EXPECT_EQ(cache_.gather(sequence).numbers, gates_.sums);
    cache_.free(sequence);
  }
}

// A fork keeps the numbers of its prefix, a copied page too; truncated tokens take theirs along.
TEST_P(CachedNumbers, FollowForksAndTruncation) {
  const std::vector<float> whole = attended(encoding_, gates_);
  const SequenceId first = cache_.create();
  append_gated(first, 0, 20);  // ends within a page
  const SequenceId second = cache_.fork(first);
  append_gated(first, 20, 20);
  append_gated(second, 20, 13);
  cache_.truncate(second, 30);
  append_gated(second, 30, 10);
  for (const SequenceId sequence : {first, second}) {
    expect_same(attended_from(cache_, sequence, 39, 1), whole, 39);
    EXPECT_EQ(cache_.gather(sequence).numbers, gates_.sums);
  }
}

TEST_P(CachedNumbers, MustBeGivenSomewhere) {
  const SequenceId sequence = cache_.create();
  append(cache_, sequence, range(0, 3), 0);
  EXPECT_NE(error_of([&] { attended_from(cache_, sequence, 2, 1); }).find("appended without numbers"),
            std::string::npos);
  std::vector<float> k = tokens_of<float>(0, 1), v = k;
  NewTokens tokens{.keys = view_of(k), .values = view_of(v), .ids = {}};
  const std::vector<Position> ids{3};
  tokens.ids = ids;
  tokens.numbers = gates_.view(gates_.sums, 0, 2);
  EXPECT_NE(error_of([&] { cache_.append(sequence, tokens); }).find("numbers must be float32 or float64 [1, 1, 2"),
            std::string::npos);
  KvCache plain(rope(), {.capacity = 16, .heads = heads, .head_dim = dim});
  const SequenceId other = plain.create();
  EXPECT_NE(error_of([&] { plain.append(other, tokens); }).find("takes no numbers"), std::string::npos);
}

}  // namespace
}  // namespace locus::testing
