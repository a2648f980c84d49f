// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>

#include "cache_tokens.h"
#include "locus/error.h"

namespace locus::testing {
namespace {

TEST(KvCache, KeysEqualTheReferenceAtTheirPositions) {
  const Encoding encoding = rope();
  KvCache cache(encoding, {.capacity = 16, .heads = heads, .head_dim = dim});
  const SequenceId sequence = cache.create();
  append(cache, sequence, range(5, 3), 0);  // a chunk, then one at a time
  for (std::int64_t t = 3; t < 6; ++t) append(cache, sequence, {5 + t}, t);
  const CachedSequence gathered = cache.gather(sequence);
  EXPECT_EQ(gathered.ids, range(5, 6));
  for (std::int64_t t = 0; t < 6; ++t) {
    EXPECT_LE(key_error(encoding, gathered, t, t, 5 + t), bound(ElementType::float32, 1));
    EXPECT_EQ(number_at(gathered.values, t, 0, 0), tokens_of<float>(1000 + t, 1)[0]);
  }
}

TEST(KvCache, RawAndRotatedKeysAgree) {
  const Encoding encoding = rope();
  for (const KeyForm form : {KeyForm::rotated, KeyForm::raw}) {
    KvCache cache(encoding, {.capacity = 8, .heads = heads, .head_dim = dim, .form = form});
    const SequenceId sequence = cache.create();
    append(cache, sequence, range(100, 4), 0);
    cache.shift(sequence, 7);
    const CachedSequence gathered = cache.gather(sequence);
    for (std::int64_t t = 0; t < 4; ++t) {
      EXPECT_LE(key_error(encoding, gathered, t, t, 107 + t), bound(ElementType::float32, 2));
    }
  }
}

template <class T>
void expect_lazy_shifts_round_once(ElementType type) {
  const Encoding encoding = rope();
  KvCache cache(encoding, {.capacity = 4, .heads = heads, .head_dim = dim, .type = type});
  const SequenceId sequence = cache.create();
  append<T>(cache, sequence, range(0, 2), 0);
  std::mt19937 random(7);
  Position at = 0;
  for (int i = 0; i < 10000; ++i) {
    const Position delta = static_cast<Position>(random() % 1000);
    cache.shift(sequence, delta);
    at += delta;
  }
  // One rounding when stored and one when used, for any number of shifts.
  EXPECT_LE(key_error<T>(encoding, cache.gather(sequence), 1, 1, at + 1), bound(type, 2));
  cache.settle(sequence);
  EXPECT_LE(key_error<T>(encoding, cache.gather(sequence), 1, 1, at + 1), bound(type, 2));
}

TEST(KvCache, TenThousandLazyShiftsCostOneRounding) {
  expect_lazy_shifts_round_once<float>(ElementType::float32);
  expect_lazy_shifts_round_once<BFloat16>(ElementType::bfloat16);
  expect_lazy_shifts_round_once<Float16>(ElementType::float16);
}

TEST(KvCache, TenThousandEagerShiftsStayBelowOneInAThousand) {
  const Encoding encoding = rope();
  KvCache cache(encoding, {.capacity = 4, .heads = heads, .head_dim = dim});
  const SequenceId sequence = cache.create();
  append(cache, sequence, range(0, 2), 0);
  for (int i = 0; i < 10000; ++i) {
    cache.shift(sequence, 3);
    cache.settle(sequence);
  }
  const double error = key_error(encoding, cache.gather(sequence), 1, 1, 30001);
  RecordProperty("worst_eager_error", std::to_string(error));
  EXPECT_LE(error, 1e-3);
  EXPECT_GT(error, 0) << "10,000 roundings that leave no trace are not eager";
}

TEST(KvCache, ForksSharePagesAndMoveApart) {
  const Encoding encoding = rope();
  KvCache cache(encoding, {.capacity = 48, .heads = heads, .head_dim = dim, .page_size = 16});
  const SequenceId first = cache.create();
  append(cache, first, range(0, 6), 0);
  const SequenceId second = cache.fork(first);
  EXPECT_EQ(cache.free_pages(), 2) << "a shared page counts once";
  append(cache, second, {6}, 6);
  EXPECT_EQ(cache.free_pages(), 2) << "no other sequence uses the next slot";
  EXPECT_EQ(cache.pages_for(first, 1), 1) << "now somebody does: the page must be copied";
  append(cache, first, {7}, 7);
  EXPECT_EQ(cache.free_pages(), 1);
  EXPECT_EQ(cache.positions(second), range(0, 7));
  cache.shift(second, 50);
  EXPECT_EQ(cache.positions(first), (std::vector<Position>{0, 1, 2, 3, 4, 5, 7}));
  EXPECT_EQ(cache.positions(second), range(50, 7));
  for (const std::int64_t t : {3, 6}) {
    const std::int64_t index = t == 6 ? 7 : t;
    EXPECT_LE(key_error(encoding, cache.gather(first), t, index, index), bound(ElementType::float32, 1));
    EXPECT_LE(key_error(encoding, cache.gather(second), t, t, 50 + t), bound(ElementType::float32, 2));
  }
  cache.free(first);
  cache.free(second);
  EXPECT_EQ(cache.free_pages(), 3);
}

TEST(KvCache, SettlingCopiesSharedPages) {
  const Encoding encoding = rope();
  KvCache cache(encoding, {.capacity = 32, .heads = heads, .head_dim = dim, .page_size = 16});
  const SequenceId first = cache.create(), other = cache.create();
  append(cache, first, range(0, 6), 0);
  append(cache, other, {0}, 9);
  const SequenceId second = cache.fork(first);
  cache.shift(second, 50);
  EXPECT_THROW(cache.settle(second), Error) << "the shared page would have to be copied, and none is free";
  EXPECT_EQ(cache.positions(second), range(50, 6));
  EXPECT_LE(key_error(encoding, cache.gather(second), 3, 3, 53), bound(ElementType::float32, 2));
  cache.free(other);
  cache.settle(second);
  EXPECT_EQ(cache.free_pages(), 0);
  EXPECT_LE(key_error(encoding, cache.gather(first), 1, 1, 1), bound(ElementType::float32, 1));
  EXPECT_LE(key_error(encoding, cache.gather(second), 1, 1, 51), bound(ElementType::float32, 2));
}

TEST(KvCache, MovesOfPositions) {
  const Encoding encoding = rope();
  KvCache cache(encoding, {.capacity = 16, .heads = heads, .head_dim = dim});
  const SequenceId sequence = cache.create();
  append(cache, sequence, range(0, 10), 0);
  cache.divide(sequence, 0, 6, 2);
  EXPECT_EQ(cache.positions(sequence), (std::vector<Position>{0, 0, 1, 1, 2, 2, 6, 7, 8, 9}));
  EXPECT_LE(key_error(encoding, cache.gather(sequence), 5, 5, 2), bound(ElementType::float32, 2));
  cache.relocate(sequence, 2, 4, 100);
  EXPECT_EQ(cache.positions(sequence)[3], 101);
  EXPECT_LE(key_error(encoding, cache.gather(sequence), 3, 3, 101), bound(ElementType::float32, 2));
  KvCache negative(encoding, {.capacity = 16, .heads = heads, .head_dim = dim});
  const SequenceId before_zero = negative.create();
  append(negative, before_zero, range(-5, 5), 0);
  negative.divide(before_zero, 0, 5, 2);
  EXPECT_EQ(negative.positions(before_zero), (std::vector<Position>{-3, -2, -2, -1, -1})) << "rounded down";
  negative.divide(before_zero, 0, 5, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(negative.positions(before_zero), (std::vector<Position>{-1, -1, -1, -1, -1}));
  cache.slide(sequence, 1, 3, true);
  EXPECT_EQ(cache.positions(sequence), range(0, 4));
  EXPECT_LE(key_error(encoding, cache.gather(sequence), 3, 9, 3), bound(ElementType::float32, 2));
}

// Dynamic NTK beyond its trained length: the cache refuses to mix tables and names two solutions; both are exact.
TEST(KvCache, RefusesToMixTables) {
  const Encoding encoding = rope({{"rule", "dynamic_ntk"}, {"factor", 2.0}, {"max_length", 8}});
  const Encoding longer = encoding.at_length(32);
  KvCache rotated(encoding, {.capacity = 8, .heads = heads, .head_dim = dim});
  KvCache raw(encoding, {.capacity = 8, .heads = heads, .head_dim = dim, .form = KeyForm::raw});
  for (KvCache* cache : {&rotated, &raw}) append(*cache, cache->create(), range(0, 4), 0);
  try {
    rotated.set_encoding(longer);
    FAIL() << "two tables were mixed";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("raw"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("rerotate"), std::string::npos);
  }
  EXPECT_LE(key_error(encoding, rotated.gather(0), 3, 3, 3), bound(ElementType::float32, 1)) << "unchanged on error";
  rotated.set_encoding(longer, true);
  raw.set_encoding(longer);
  for (KvCache* cache : {&rotated, &raw}) {
    EXPECT_LE(key_error(longer, cache->gather(0), 3, 3, 3), bound(ElementType::float32, 2));
  }
  const Encoding yarn = rope({{"rule", "yarn"}, {"factor", 4.0}, {"original_length", 64}});  // has a magnitude
  rotated.set_encoding(yarn, true);
  EXPECT_LE(key_error(yarn, rotated.gather(0), 3, 3, 3), 1.2 * bound(ElementType::float32, 3));
  rotated.shift(0, 1000);
  EXPECT_LE(key_error(yarn, rotated.gather(0), 3, 3, 1003), 1.2 * bound(ElementType::float32, 4))
      << "the magnitude must not be applied twice";
}

TEST(KvCache, ErrorsLeaveItUnchanged) {
  const Encoding encoding = rope();
  KvCache cache(encoding, {.capacity = 16, .heads = heads, .head_dim = dim, .page_size = 16});
  const SequenceId sequence = cache.create(), freed = cache.create();
  cache.free(freed);
  append(cache, sequence, range(4, 4), 0);
  const auto refused = [&](const std::function<void()>& change, const std::string& part) {
    try {
      change();
      ADD_FAILURE() << "accepted: " << part;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
    EXPECT_EQ(cache.positions(sequence), range(4, 4));
    EXPECT_EQ(cache.free_pages(), 0);
    EXPECT_LE(key_error(encoding, cache.gather(sequence), 2, 2, 6), bound(ElementType::float32, 1));
  };
  refused([&] { append(cache, sequence, range(8, 13), 4); }, "no free page: 13 tokens need 1, 0 of 1 are free");
  refused([&] { append(cache, freed, {9}, 4); }, "unknown sequence 1");
  refused([&] { cache.pages_for(sequence, -1); }, "at least 0");
  refused([&] { cache.keep(sequence, 5, {}); }, "keep tokens before");
  refused([&] { cache.keep(sequence, 2, std::vector<std::int64_t>{3, 3}); }, "must rise");
  refused([&] { cache.keep(sequence, 2, std::vector<std::int64_t>{1}); }, "must rise from 2");
  refused([&] { cache.keep(sequence, 2, std::vector<std::int64_t>{4}); }, "below 4");
  refused([&] { cache.shift(sequence, 0, 5, std::vector<Position>{1}); }, "shift tokens within");
  refused([&] { cache.shift(sequence, 0, 2, std::vector<Position>{1, 1}); }, "one delta per axis");
  refused([&] { append(cache, sequence, {7}, 4); }, "must rise");
  refused([&] { append(cache, sequence, {8, 8}, 4); }, "must rise");
  refused([&] { append(cache, sequence, {max_position + 1}, 4); }, "positions must be from");
  refused([&] { append<BFloat16>(cache, sequence, {9}, 4); }, "float32");
  refused([&] { append(cache, 7, {9}, 4); }, "unknown sequence 7");
  refused([&] { cache.fork(-1); }, "unknown sequence -1");
  refused([&] { cache.truncate(sequence, 5); }, "truncate");
  refused([&] { cache.slide(sequence, 0, 0, true); }, "window");
  refused([&] { cache.shift(sequence, max_position); }, "positions must be from");
  refused([&] { cache.relocate(sequence, 2, 9, 0); }, "relocate");
  refused([&] { cache.relocate(sequence, 0, 2, std::numeric_limits<Position>::max()); }, "relocate to a position");
  refused([&] { cache.divide(sequence, 0, 2, 0); }, "group");
  refused([&] { cache.set_encoding(Encoding("alibi", {{"heads", 2}})); }, "score");
  std::vector<float> keys = tokens_of<float>(0, 1);
  std::vector<float> values = tokens_of<float>(0, 2);
  refused([&] { cache.append(sequence, view_of(keys), view_of(values), std::vector<Position>{9}); },
          "1 positions for 2");
  EXPECT_THROW(KvCache(encoding, {.capacity = 0, .heads = 1, .head_dim = dim}), Error);
  EXPECT_THROW(KvCache(encoding, {.capacity = 4, .heads = 1, .head_dim = 8}), Error);
}

TEST(KvCache, OtherSitesStoreKeysUnchanged) {
  KvCache cache(Encoding("alibi", {{"heads", heads}}), {.capacity = 4, .heads = heads, .head_dim = dim});
  const SequenceId sequence = cache.create();
  append(cache, sequence, range(0, 3), 0);
  cache.shift(sequence, 5);
  const CachedSequence gathered = cache.gather(sequence);
  EXPECT_EQ(gathered.ids, range(5, 3));
  EXPECT_EQ(number_at(gathered.keys, 2, 1, 3), tokens_of<float>(2, 1)[dim + 3]);
}

}  // namespace
}  // namespace locus::testing
