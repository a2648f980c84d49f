// SPDX-License-Identifier: Apache-2.0
// What the cache takes and what it refuses, at the last value that it takes and the first that it does not; and which
// encodings may follow each other.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "cache_tokens.h"
#include "locus/error.h"

namespace locus::testing {
namespace {

CacheShape shape_of(std::int64_t capacity) {
  return {.capacity = capacity, .heads = heads, .head_dim = dim, .page_size = 16};
}

/// A cache with tokens at these positions in sequence 0.
KvCache filled(const Encoding& encoding, const std::vector<Position>& ids, CacheShape shape = shape_of(16)) {
  KvCache cache(encoding, shape);
  append(cache, cache.create(), ids, 0);
  return cache;
}

void expect_refused(const std::function<void()>& change, const std::string& part) {
  try {
    change();
    ADD_FAILURE() << "accepted: " << part;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(CacheLimits, Shapes) {
  const Encoding encoding = rope(), wide = Encoding("alibi", {{"heads", 1}});
  EXPECT_NO_THROW(KvCache(encoding, {.capacity = 1, .heads = 1, .head_dim = dim}));
  EXPECT_NO_THROW(KvCache(wide, {.capacity = 1, .heads = 1, .head_dim = 1}));
  expect_refused([&] { KvCache(wide, {.capacity = 1, .heads = 0, .head_dim = 1}); }, "at least 1, got 1, 0 and 1");
  expect_refused([&] { KvCache(wide, {.capacity = 1, .heads = 1, .head_dim = 0}); }, "at least 1, got 1, 1 and 0");
  expect_refused([&] { KvCache(wide, {.capacity = (1 << 20) + 1, .heads = 1 << 10, .head_dim = 1 << 10}); },
                 "more than 2^40");
  expect_refused([&] { KvCache(wide, {.capacity = 1, .heads = 1, .head_dim = 1, .type = ElementType::float64}); },
                 "not float64");
  expect_refused([&] { KvCache(encoding, {.capacity = 1, .heads = 1, .head_dim = dim + 1}); }, "head_dim 16");
}

TEST(CacheLimits, PageSizes) {
  const Encoding encoding = rope();
  CacheShape shape = shape_of(100);
  shape.page_size = 15;
  expect_refused([&] { KvCache(encoding, shape); }, "page_size must be 16 to 256, got 15");
  shape.page_size = 257;
  expect_refused([&] { KvCache(encoding, shape); }, "page_size must be 16 to 256, got 257");
  shape.page_size = 16;
  EXPECT_EQ(KvCache(encoding, shape).free_pages(), 7);
  EXPECT_EQ(KvCache(encoding, shape).shape().capacity, 112);
  shape.page_size = 256;
  EXPECT_EQ(KvCache(encoding, shape).free_pages(), 1);
}

TEST(CacheLimits, SizesThatOverflow) {
  const Encoding none("nope");
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const CacheShape& shape :
       {CacheShape{.capacity = most, .heads = 1, .head_dim = 1},
        CacheShape{.capacity = 1, .heads = most, .head_dim = 1},
        CacheShape{.capacity = 1, .heads = 1, .head_dim = most},
        CacheShape{.capacity = 1, .heads = most, .head_dim = most},
        CacheShape{.capacity = std::int64_t{1} << 40, .heads = 1, .head_dim = 1, .page_size = 16}}) {
    EXPECT_THROW(KvCache(none, shape), Error);
  }
}

TEST(CacheLimits, AxesStayTheSame) {
  const std::vector<Encoding> others = {rope({{"axes", "grid"}}),
                                        rope({{"axes", "mrope"}, {"sections", std::vector<double>{4, 2, 2}}})};
  for (const Encoding& other : others) {
    EXPECT_NO_THROW(KvCache(other, shape_of(4)));
    KvCache empty(rope(), shape_of(4));
    expect_refused([&] { empty.set_encoding(other); }, "axes");
  }
  KvCache cells(rope({{"axes", "pixtral"}, {"grid_width", 4}}), shape_of(4));  // one id names a cell
  append(cells, cells.create(), range(0, 4), 0);
}

TEST(CacheLimits, ViewsThatDoNotFit) {
  KvCache cache(rope(), shape_of(4));
  const SequenceId sequence = cache.create();
  std::vector<float> keys = tokens_of<float>(0, 2), values = tokens_of<float>(2, 2);
  const HeadsView good = view_of(keys), other = view_of(values);
  const std::vector<Position> ids{0, 1};
  const auto refused = [&](HeadsView wrong) {
    expect_refused([&] { cache.append(sequence, wrong, other, ids); }, "tokens must be float32 [1, tokens, 2, 16]");
    expect_refused([&] { cache.append(sequence, good, wrong, ids); }, "tokens must be float32 [1, tokens, 2, 16]");
  };
  HeadsView wrong = good;
  wrong.batch = 2;
  refused(wrong);
  wrong = good;
  wrong.heads = 1;
  refused(wrong);
  wrong = good;
  wrong.head_dim = 8;
  refused(wrong);
  wrong = good;
  wrong.type = ElementType::float16;
  refused(wrong);
  EXPECT_EQ(cache.length(sequence), 0);
  cache.append(sequence, good, other, ids);
  EXPECT_EQ(cache.length(sequence), 2);
}

TEST(CacheLimits, ItCanBeFilledToTheLastToken) {
  KvCache cache(rope(), shape_of(32));
  const SequenceId sequence = cache.create();
  append(cache, sequence, range(0, 31), 0);
  EXPECT_EQ(cache.free_pages(), 0);
  append(cache, sequence, {31}, 31);
  expect_refused([&] { append(cache, sequence, {32}, 32); }, "no free page: 1 tokens need 1, 0 of 2 are free");
  append(cache, sequence, {}, 3);
  EXPECT_EQ(cache.length(sequence), 32);
}

TEST(CacheLimits, SequencesAreNumberedFromTheFirstFreeNumber) {
  KvCache cache(rope(), shape_of(4));
  EXPECT_EQ(cache.create(), 0);
  EXPECT_EQ(cache.create(), 1);
  EXPECT_EQ(cache.create(), 2);
  cache.free(1);
  expect_refused([&] { cache.length(1); }, "sequence 1");
  expect_refused([&] { cache.length(3); }, "sequence 3");
  expect_refused([&] { cache.length(-1); }, "sequence -1");
  EXPECT_EQ(cache.length(2), 0);
  EXPECT_EQ(cache.create(), 1);
  EXPECT_EQ(cache.fork(0), 3);
}

TEST(CacheLimits, Truncate) {
  KvCache cache = filled(rope(), range(0, 4));
  expect_refused([&] { cache.truncate(0, -1); }, "truncate to 0 .. 4 tokens, got -1");
  expect_refused([&] { cache.truncate(0, 5); }, "truncate to 0 .. 4 tokens, got 5");
  cache.truncate(0, 4);
  EXPECT_EQ(cache.length(0), 4);
  cache.truncate(0, 0);
  EXPECT_EQ(cache.length(0), 0);
  EXPECT_EQ(cache.free_pages(), 1);
}

TEST(CacheLimits, Slide) {
  KvCache cache = filled(rope(), range(0, 40), shape_of(48));
  expect_refused([&] { cache.slide(0, -1, 1, false); }, "sinks >= 0 and window >= 1, got -1 and 1");
  expect_refused([&] { cache.slide(0, 0, 0, false); }, "sinks >= 0 and window >= 1, got 0 and 0");
  cache.slide(0, 2, 38, false);
  EXPECT_EQ(cache.positions(0), range(0, 40)) << "everything fits";
  EXPECT_EQ(cache.free_pages(), 0);
  cache.slide(0, 1, 2, false);
  EXPECT_EQ(cache.positions(0), (std::vector<Position>{0, 38, 39}));
  EXPECT_EQ(cache.free_pages(), 1) << "the page between them";
  cache.slide(0, 0, 1, false);
  EXPECT_EQ(cache.positions(0), (std::vector<Position>{39}));
  EXPECT_EQ(cache.free_pages(), 2);
}

TEST(CacheLimits, ShiftsReachFromOneEndToTheOther) {
  KvCache cache = filled(rope(), {max_position});
  cache.shift(0, -2 * max_position);
  EXPECT_EQ(cache.positions(0), std::vector<Position>{-max_position});
  cache.shift(0, 2 * max_position);
  EXPECT_EQ(cache.positions(0), std::vector<Position>{max_position});
  expect_refused([&] { cache.shift(0, -2 * max_position - 1); }, "shift by at most");
  expect_refused([&] { cache.shift(0, 2 * max_position + 1); }, "shift by at most");
  expect_refused([&] { cache.shift(0, 1); }, "positions must be from");
}

TEST(CacheLimits, Relocate) {
  KvCache cache = filled(rope(), range(0, 4));
  for (const auto& [begin, end] : std::vector<std::pair<std::int64_t, std::int64_t>>{{-1, 2}, {3, 2}, {0, 5}}) {
    expect_refused([&, begin = begin, end = end] { cache.relocate(0, begin, end, 0); },
                   "relocate tokens within 0 .. 4");
  }
  expect_refused([&] { cache.relocate(0, 3, 4, max_position + 1); }, "relocate to a position");
  expect_refused([&] { cache.relocate(0, 3, 4, -max_position - 1); }, "relocate to a position");
  cache.relocate(0, 2, 2, 77);
  EXPECT_EQ(cache.positions(0), range(0, 4)) << "no tokens, no change";
  cache.relocate(0, 3, 4, max_position);
  cache.relocate(0, 0, 1, -max_position);
  EXPECT_EQ(cache.positions(0), (std::vector<Position>{-max_position, 1, 2, max_position}));
  cache.relocate(0, 0, 4, 5);
  EXPECT_EQ(cache.positions(0), range(5, 4));
}

TEST(CacheLimits, Divide) {
  KvCache cache = filled(rope(), range(8, 4));
  for (const auto& [begin, end] : std::vector<std::pair<std::int64_t, std::int64_t>>{{-1, 2}, {3, 2}, {0, 5}}) {
    expect_refused([&, begin = begin, end = end] { cache.divide(0, begin, end, 2); }, "divide tokens within 0 .. 4");
  }
  expect_refused([&] { cache.divide(0, 0, 4, 0); }, "a group of at least 1, got 0");
  cache.divide(0, 0, 4, 1);
  cache.divide(0, 1, 1, 2);
  EXPECT_EQ(cache.positions(0), range(8, 4));
  cache.divide(0, 0, 4, 4);
  EXPECT_EQ(cache.positions(0), (std::vector<Position>{2, 2, 2, 2}));
}

// xPos far from its centre leaves the element type: wherever a move or another encoding would put a key there, it is
// refused, and nothing has changed.
TEST(CacheLimits, NoMoveLeavesThePositionsOfTheEncoding) {
  const Encoding far("xpos", {{"head_dim", dim}, {"pairing", "half"}, {"centre", 1'000'000}});
  ASSERT_GT(far.position_range().first, 10);
  for (const KeyForm form : {KeyForm::rotated, KeyForm::raw}) {
    CacheShape shape = shape_of(8);
    shape.form = form;
    KvCache cache = filled(far, range(1'000'000, 4), shape);
    expect_refused([&] { cache.divide(0, 0, 4, 1000); }, "positions must be from");
    expect_refused([&] { cache.slide(0, 1, 2, true); }, "positions must be from");
    expect_refused([&] { cache.shift(0, -1'000'000); }, "positions must be from");
    expect_refused([&] { cache.relocate(0, 0, 4, 0); }, "positions must be from");
    const Encoding near("xpos", {{"head_dim", dim}, {"pairing", "half"}});
    expect_refused([&] { cache.set_encoding(near, true); }, "positions must be from");
    EXPECT_EQ(cache.positions(0), range(1'000'000, 4));
    EXPECT_EQ(cache.free_pages(), 0);
    // Moved, but not turned yet: what counts is where a key stands, and where it is stored.
    const Encoding here("rope", {{"head_dim", dim}, {"pairing", "half"}});
    KvCache moved = filled(here, range(0, 2), shape);
    moved.shift(0, 1'000'000);
    expect_refused([&] { moved.set_encoding(near, true); }, "positions must be from");
  }
}

// ---- which encodings may follow each other

struct Change {
  const char* what;
  Encoding encoding;
};

std::vector<Change> changes() {
  const Arguments yarn{{"rule", "yarn"}, {"factor", 4.0}, {"original_length", 64}};
  Arguments louder = yarn;
  louder.set("attention_factor", 2.0);
  return {{"base", rope({{"base", 500.0}})},
          {"pairing", rope({{"pairing", "interleaved"}})},
          {"width", rope({{"rotary_dim", 8}})},
          {"offset", rope({{"rotary_dim", 8}, {"rotary_offset", 8}})},
          {"output order", rope({{"pairing", "interleaved"}, {"output_order", "deinterleaved"}})},
          {"rule", rope(yarn)},
          {"magnitude", rope(louder)},
          {"profile", rope({{"profile", "hf"}})},
          {"rounded tables", rope({{"table_type", "bfloat16"}})},
          {"scale", Encoding("xpos", {{"head_dim", dim}, {"pairing", "half"}})},
          {"scale base", Encoding("xpos", {{"head_dim", dim}, {"pairing", "half"}, {"scale_base", 700.0}})},
          {"centre", Encoding("xpos", {{"head_dim", dim}, {"pairing", "half"}, {"centre", 9}})},
          {"none", rope()}};
}

TEST(CacheTables, AnyDifferenceIsAnotherTable) {
  for (const Change& old : changes()) {
    for (const Change& fresh : changes()) {
      KvCache cache = filled(old.encoding, range(3, 4));
      if (std::string(old.what) == fresh.what) {
        EXPECT_NO_THROW(cache.set_encoding(fresh.encoding)) << old.what << " twice";
      } else {
        EXPECT_THROW(cache.set_encoding(fresh.encoding), Error) << old.what << " -> " << fresh.what;
      }
      KvCache empty(old.encoding, shape_of(4));
      EXPECT_NO_THROW(empty.set_encoding(fresh.encoding)) << old.what << " -> " << fresh.what;
    }
  }
}

// Rotated anew, every key is where the new encoding alone would have put it.
TEST(CacheTables, KeysFollowFromAnyTableToAnyOther) {
  for (const KeyForm form : {KeyForm::rotated, KeyForm::raw}) {
    for (const Change& old : changes()) {
      for (const Change& fresh : changes()) {
        CacheShape shape = shape_of(8);
        shape.form = form;
        KvCache cache = filled(old.encoding, range(3, 4), shape);
        cache.set_encoding(fresh.encoding, true);
        append(cache, 0, {7}, 4);
        const CachedSequence gathered = cache.gather(0);
        for (std::int64_t t = 0; t < 5; ++t) {
          const double size = 2.0;  // the largest magnitude
          EXPECT_LE(key_error(fresh.encoding, gathered, t, t, 3 + t), size * bound(ElementType::float32, 4))
              << old.what << " -> " << fresh.what << ", token " << t;
          EXPECT_EQ(number_at(gathered.values, t, 1, 5), tokens_of<float>(1000 + t, 1)[dim + 5]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace locus::testing
