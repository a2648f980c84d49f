// SPDX-License-Identifier: Apache-2.0
// Pages of equal content become one, and attention over many pages equals attention over the gathered tokens.
#include <gtest/gtest.h>

#include "cache/cache_tokens.h"
#include "locus/attention.h"

namespace locus::testing {
namespace {

TEST(SharedPages, EqualPagesAreKeptOnce) {
  for (const KvStorage storage : {KvStorage::elements, KvStorage::int8}) {
    KvCache cache(rope(), {.capacity = 6 * 16,
                           .heads = heads,
                           .head_dim = dim,
                           .storage = storage,
                           .page_size = 16,
                           .share_equal_pages = true});
    const SequenceId first = cache.create(), same = cache.create(), moved = cache.create(), other = cache.create();
    append(cache, first, range(0, 16), 0);
    EXPECT_EQ(cache.free_pages(), 5);
    append(cache, same, range(0, 15), 0);
    EXPECT_EQ(cache.free_pages(), 4) << "not full yet";
    append(cache, same, {15}, 15);
    EXPECT_EQ(cache.free_pages(), 5) << "full, and equal to the first";
    append(cache, moved, range(1, 16), 0);
    EXPECT_EQ(cache.free_pages(), 4) << "other positions are another page";
    append(cache, other, range(0, 16), 7);
    EXPECT_EQ(cache.free_pages(), 3) << "other numbers are another page";
    const CachedSequence one = cache.gather(first), two = cache.gather(same);
    EXPECT_EQ(one.storage, two.storage);
    EXPECT_EQ(one.ids, two.ids);
    // A sequence that goes on does not change the other one.
    append(cache, same, {16}, 16);
    cache.truncate(same, 3);
    append(cache, same, {3}, 90);
    EXPECT_EQ(cache.gather(first).storage, one.storage);
    cache.free(first);
    append(cache, cache.create(), range(0, 16), 0);
    EXPECT_EQ(cache.positions(same), range(0, 4));
  }
}

void expect_attention_as_gathered(const KvCache& cache, SequenceId sequence, std::int64_t queries) {
  std::vector<float> query = tokens_of<float>(5000, queries), paged(query.size()), plain(query.size());
  const auto shaped = [&](std::vector<float>& data) {
    return heads_view(data.data(), ElementType::float32, "bthd", {{1, queries, heads, dim}});
  };
  const std::vector<CachedQueries> all{{.sequence = sequence, .query = shaped(query), .output = shaped(paged)}};
  cache.attend({.queries = all});
  const CachedSequence gathered = cache.gather(sequence);
  AttentionCall call;
  call.query = shaped(query);
  call.key = gathered.keys;
  call.value = gathered.values;
  call.output = shaped(plain);
  call.mask = {.causal = true, .by_index = true};
  attend(call);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(paged[i], plain[i], 1e-5) << i;
}

// Blocks of keys, and the portions of 256 that units of work read, begin inside a page of 24 tokens, whose keys moved or
// did not. Numbers of 8 bits have a scale per token, so a wrong one shows.
TEST(SharedPages, AttentionReadsFromTheMiddleOfAPage) {
  for (const KvStorage storage : {KvStorage::elements, KvStorage::int8}) {
    for (const KeyForm form : {KeyForm::rotated, KeyForm::raw}) {
      KvCache cache(
          rope(),
          {.capacity = 720, .heads = heads, .head_dim = dim, .form = form, .storage = storage, .page_size = 24});
      const SequenceId sequence = cache.create();
      append(cache, sequence, range(0, 700), 0);
      for (const std::int64_t queries : {1, 20}) expect_attention_as_gathered(cache, sequence, queries);
      cache.shift(sequence, 3);
      for (const std::int64_t queries : {1, 20}) expect_attention_as_gathered(cache, sequence, queries);
    }
  }
}

}  // namespace
}  // namespace locus::testing
