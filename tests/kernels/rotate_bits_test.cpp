// SPDX-License-Identifier: Apache-2.0
// The rotated bits of a token depend only on the token and its ids, not on its neighbours, its address, the order of
// the ids, the number of threads, or the earlier contents of the encoding's table. So decode equals prefill.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "heads.h"
#include "locus/executor.h"
#include "locus/rotate.h"
#include "locus/rows.h"
#include "support/on_every_target.h"

namespace locus {
namespace {

using testing::consecutive_ids;
using testing::for_every_type;
using testing::Heads;
using testing::ids_of;
using testing::packed;
using testing::ragged;
using testing::same_bits;
using testing::same_heads;

// 17 pairs are vectors and a tail for 4, 8 and 16 lanes.
constexpr std::int64_t head_dim = 40;
constexpr std::int64_t heads = 3;
constexpr std::int64_t tokens = 600;
constexpr std::int64_t many_tokens = 3400;  // work for 3 threads (256 KiB each), even in 16 bits

Encoding rope(const std::string& pairing, const std::string& order = "same",
              std::size_t table_bytes = Encoding::default_table_bytes) {
  return Encoding(
      "rope",
      {{"head_dim", head_dim}, {"rotary_dim", 34}, {"rotary_offset", 3}, {"pairing", pairing}, {"output_order", order}},
      table_bytes);
}

// A pool that counts its pieces.
class CountedPool : public Executor {
 public:
  explicit CountedPool(int threads) : pool_(threads) {}
  std::int64_t concurrency() const override { return pool_.concurrency(); }
  void run(std::int64_t count, const std::function<void(std::int64_t)>& piece) override {
    pieces += count;
    pool_.run(count, piece);
  }
  std::int64_t pieces = 0;

 private:
  ThreadPool pool_;
};

// The tokens before their rotation.
template <class T>
const Heads<T>& sample(std::int64_t count) {
  static const Heads<T> few(packed(1, tokens, heads, head_dim));
  static const Heads<T> many(packed(1, many_tokens, heads, head_dim));
  return count == tokens ? few : many;
}

template <class T>
Heads<T> prefill(const Encoding& encoding, const PositionIds& ids, Executor* executor = nullptr) {
  Heads<T> all = sample<T>(ids.tokens);
  rotate(encoding, all.view(), ids, Role::query, Direction::forward, executor);
  return all;
}

template <class T>
void copy_token(const Heads<T>& from, std::int64_t token, Heads<T>& to, std::int64_t to_token) {
  for (std::int64_t h = 0; h < heads; ++h) {
    const auto source = from.head(0, token, h);
    std::copy(source.begin(), source.end(), to.head(0, to_token, h).begin());
  }
}
template <class T>
bool same_token(const Heads<T>& a, std::int64_t token, const Heads<T>& b, std::int64_t b_token) {
  for (std::int64_t h = 0; h < heads; ++h) {
    if (!same_bits(a.head(0, token, h), b.head(0, b_token, h))) return false;
  }
  return true;
}

struct Order {
  std::string pairing, output;
};
const std::vector<Order> bit_orders = {{"half", "same"}, {"interleaved", "same"}, {"interleaved", "deinterleaved"}};

// A range across 0, whose upper part the table keeps, and one at the end of the range, which it does not keep.
const std::vector<Position> starts = {-100, max_position - tokens + 1};

class RotateBits : public testing::OnEveryTarget {
 protected:
  template <class Check>
  static void for_every_case(const Check& check) {
    for (const Order& order : bit_orders) {
      for (const Position first : starts) {
        SCOPED_TRACE(order.pairing + " " + order.output + " from " + std::to_string(first));
        for_every_type([&](auto zero) { check(zero, order, consecutive_ids(first, tokens)); });
      }
    }
  }
};

TEST_P(RotateBits, OneTokenAloneIsThatOfTheBatch) {
  for_every_case([](auto zero, const Order& order, const PositionIds& ids) {
    using T = decltype(zero);
    const Heads<T>& input = sample<T>(tokens);
    const Heads<T> all = prefill<T>(rope(order.pairing, order.output), ids);
    const Encoding cold = rope(order.pairing, order.output, 0);  // without a table
    for (std::int64_t t = 0; t < tokens; t += 97) {
      Heads<T> alone(ragged(1, 1, heads, head_dim));  // elsewhere, unaligned, other strides
      copy_token(input, t, alone, 0);
      const PositionIds id = ids_of({ids.ids[static_cast<std::size_t>(t)]});
      rotate(t % 2 == 0 ? cold : rope(order.pairing, order.output), alone.view(), id);
      ASSERT_TRUE(same_token(all, t, alone, 0)) << t;
    }
  });
}

// Decodes token by token while the table grows, and again with the full table.
TEST_P(RotateBits, DecodeIsPrefill) {
  for_every_case([](auto zero, const Order& order, const PositionIds& ids) {
    using T = decltype(zero);
    const Heads<T>& input = sample<T>(tokens);
    const Heads<T> all = prefill<T>(rope(order.pairing, order.output), ids);
    const Encoding growing = rope(order.pairing, order.output);
    for (int round = 0; round < 2; ++round) {
      for (std::int64_t t = 0; t < tokens; t += 3) {
        Heads<T> alone(packed(1, 1, heads, head_dim));
        copy_token(input, t, alone, 0);
        rotate(growing, alone.view(), ids_of({ids.ids[static_cast<std::size_t>(t)]}));
        ASSERT_TRUE(same_token(all, t, alone, 0)) << t;
      }
    }
    EXPECT_TRUE(same_heads(all, prefill<T>(growing, ids))) << "prefill after decode";
  });
}

TEST_P(RotateBits, ScatteredIdsAreConsecutiveOnes) {
  std::vector<std::int64_t> permutation(tokens);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::shuffle(permutation.begin(), permutation.end(), std::mt19937_64(7));
  for_every_case([&](auto zero, const Order& order, const PositionIds& ids) {
    using T = decltype(zero);
    const Heads<T>& input = sample<T>(tokens);
    const Heads<T> all = prefill<T>(rope(order.pairing, order.output), ids);
    for (const std::size_t table_bytes : {std::size_t{0}, std::size_t{200} << 10, Encoding::default_table_bytes}) {
      Heads<T> scattered = input;
      PositionIds scattered_ids = ids;
      for (std::int64_t t = 0; t < tokens; ++t) {
        const std::int64_t from = permutation[static_cast<std::size_t>(t)];
        copy_token(input, from, scattered, t);
        scattered_ids.ids[static_cast<std::size_t>(t)] = ids.ids[static_cast<std::size_t>(from)];
      }
      rotate(rope(order.pairing, order.output, table_bytes), scattered.view(), scattered_ids);
      for (std::int64_t t = 0; t < tokens; ++t) {
        ASSERT_TRUE(same_token(all, permutation[static_cast<std::size_t>(t)], scattered, t)) << t;
      }
    }
  });
}

TEST_P(RotateBits, AnyNumberOfThreads) {
  for (const Order& order : bit_orders) {
    for_every_type([&](auto zero) {
      using T = decltype(zero);
      const PositionIds ids = consecutive_ids(-100, many_tokens);
      const Heads<T> all = prefill<T>(rope(order.pairing, order.output), ids);
      for (const int threads : {1, 2, 3}) {
        CountedPool pool(threads);
        EXPECT_TRUE(same_heads(all, prefill<T>(rope(order.pairing, order.output), ids, &pool)));
        EXPECT_EQ(pool.pieces, threads == 1 ? 0 : threads) << "the work is spread, unless there is one thread";
      }
    });
  }
}

// One token is too little work for a thread.
TEST_P(RotateBits, OneTokenNeverLeavesItsThread) {
  CountedPool pool(3);
  Heads<float> token(packed(1, 1, heads, head_dim));
  rotate(rope("half"), token.view(), ids_of({5}), Role::query, Direction::forward, &pool);
  EXPECT_EQ(pool.pieces, 0);
}

// Layouts change the order of coordinates, and so which of them are in the tail of a vector, but not their values.
TEST_P(RotateBits, PairsTurnTheSameInEveryOrder) {
  for_every_type([](auto zero) {
    using T = decltype(zero);
    const PositionIds ids = consecutive_ids(90, 20);
    for (const std::int64_t pairs : {1, 3, 17, 35, 77}) {
      const auto encoding = [&](const Order& order) {
        return Encoding("rope", {{"head_dim", 2 * pairs}, {"pairing", order.pairing}, {"output_order", order.output}});
      };
      for (const Direction direction : {Direction::forward, Direction::inverse}) {
        Heads<T> half(packed(1, 20, heads, 2 * pairs));
        Heads<T> interleaved(packed(1, 20, heads, 2 * pairs));
        for (std::int64_t t = 0; t < 20; ++t) {
          for (std::int64_t h = 0; h < heads; ++h) {
            for (std::size_t i = 0; i < static_cast<std::size_t>(pairs); ++i) {
              interleaved.head(0, t, h)[2 * i] = half.head(0, t, h)[i];
              interleaved.head(0, t, h)[2 * i + 1] = half.head(0, t, h)[static_cast<std::size_t>(pairs) + i];
            }
          }
        }
        Heads<T> split = direction == Direction::forward ? interleaved : half;
        const Heads<T>& split_result = direction == Direction::forward ? half : interleaved;
        rotate(encoding(bit_orders[0]), half.view(), ids, Role::query, direction);
        rotate(encoding(bit_orders[1]), interleaved.view(), ids, Role::query, direction);
        rotate(encoding(bit_orders[2]), split.view(), ids, Role::query, direction);
        EXPECT_TRUE(same_heads(split, split_result)) << pairs;
        for (std::int64_t t = 0; t < 20; ++t) {
          for (std::int64_t h = 0; h < heads; ++h) {
            for (std::size_t i = 0; i < static_cast<std::size_t>(pairs); ++i) {
              ASSERT_TRUE(same_bits(interleaved.head(0, t, h)[2 * i], half.head(0, t, h)[i])) << pairs << " " << i;
              ASSERT_TRUE(same_bits(interleaved.head(0, t, h)[2 * i + 1],
                                    half.head(0, t, h)[static_cast<std::size_t>(pairs) + i]))
                  << pairs << " " << i;
            }
          }
        }
      }
    }
  });
}

// Queries, keys and cache appends use the same rows as a plain call.
TEST_P(RotateBits, EveryEntryPoint) {
  for_every_case([](auto zero, const Order& order, const PositionIds& ids) {
    using T = decltype(zero);
    const Encoding encoding = rope(order.pairing, order.output);
    const Heads<T> all = prefill<T>(encoding, ids);
    Heads<T> query = sample<T>(tokens);
    Heads<T> key = query;
    rotate_query_key(encoding, query.view(), key.view(), ids);
    EXPECT_TRUE(same_heads(all, query));
    EXPECT_TRUE(same_heads(all, key));
    Heads<T> input = sample<T>(tokens);
    Heads<T> cache(ragged(1, tokens, heads, head_dim), 2);
    std::vector<std::int64_t> slots(tokens);
    std::iota(slots.rbegin(), slots.rend(), 0);  // last token first
    rotate_into(encoding, input.view(), cache.view(), slots, ids);
    for (std::int64_t t = 0; t < tokens; ++t) ASSERT_TRUE(same_token(all, t, cache, tokens - 1 - t)) << t;
  });
}

TEST_P(RotateBits, EveryEntryPointSpreadOverThreads) {
  const Encoding encoding = rope("half");
  const PositionIds ids = consecutive_ids(-100, many_tokens);
  const Heads<float> all = prefill<float>(encoding, ids);
  CountedPool pool(2);
  Heads<float> query = sample<float>(many_tokens);
  Heads<float> key = query;
  rotate_query_key(encoding, query.view(), key.view(), ids, Direction::forward, &pool);
  EXPECT_TRUE(same_heads(all, query) && same_heads(all, key));
  Heads<float> input = sample<float>(many_tokens);
  Heads<float> cache(ragged(1, many_tokens, heads, head_dim), 2);
  std::vector<std::int64_t> slots(many_tokens);
  std::iota(slots.begin(), slots.end(), 0);
  rotate_into(encoding, input.view(), cache.view(), slots, ids, Role::key, &pool);
  EXPECT_TRUE(same_heads(all, cache));
  EXPECT_EQ(pool.pieces, 4);
}

// With M-RoPE, text has three equal ids and uses one row; a token of an image mixes rows. Pair i is the same in both.
TEST_P(RotateBits, MixedAxesTakeTheirPairsFromWholeRows) {
  for (const std::size_t table_bytes : {std::size_t{0}, Encoding::default_table_bytes}) {
    const Encoding encoding(
        "rope", {{"head_dim", 36}, {"pairing", "half"}, {"axes", "mrope"}, {"sections", std::vector<double>{6, 7, 5}}},
        table_bytes);
    const std::vector<Position> coordinates = {3, 900, 41};
    Heads<float> mixed(packed(1, 1, 1, 36));
    Heads<float> text(packed(1, 3, 1, 36));
    for (std::int64_t t = 0; t < 3; ++t) {
      std::copy(mixed.head(0, 0, 0).begin(), mixed.head(0, 0, 0).end(), text.head(0, t, 0).begin());
    }
    PositionIds text_ids{.axes = 3, .batch = 1, .tokens = 3, .ids = {}};
    for (int axis = 0; axis < 3; ++axis)
      text_ids.ids.insert(text_ids.ids.end(), coordinates.begin(), coordinates.end());
    rotate(encoding, mixed.view(), ids_of(coordinates, 3));
    rotate(encoding, text.view(), text_ids);
    for (std::size_t i = 0; i < 18; ++i) {
      const std::int64_t axis = i < 6 ? 0 : i < 13 ? 1 : 2;
      EXPECT_TRUE(same_bits(mixed.head(0, 0, 0)[i], text.head(0, axis, 0)[i])) << i;
      EXPECT_TRUE(same_bits(mixed.head(0, 0, 0)[18 + i], text.head(0, axis, 0)[18 + i])) << i;
    }
  }
}

// Rows computed one at a time, as a range and as a list have the same bits.
TEST_P(RotateBits, RowsHoweverAskedFor) {
  const Encoding encodings[] = {
      rope("half"),
      Encoding("rope",
               {{"head_dim", 66}, {"pairing", "half"}, {"rule", "yarn"}, {"factor", 4}, {"original_length", 4096}}),
      Encoding("rope", {{"head_dim", 66}, {"pairing", "half"}, {"profile", "hf"}, {"table_type", "bfloat16"}}),
      Encoding("xpos", {{"head_dim", 34}, {"pairing", "half"}}),
      Encoding("rope", {{"head_dim", 36}, {"pairing", "half"}, {"axes", "pixtral"}, {"grid_width", 9}}),
  };
  for (const Encoding& encoding : encodings) {
    const Rotation& rotation = encoding.rotation();
    const auto pairs = static_cast<std::size_t>(rotation.pairs());
    std::vector<Position> positions(300);
    std::iota(positions.begin(), positions.end(), 5);
    std::vector<float> stretch(300 * 2 * pairs);
    rotation_rows(rotation, 5, 300, stretch.data());
    std::reverse(positions.begin(), positions.end());
    std::vector<float> list(stretch.size());
    rotation_rows(rotation, positions, list.data());
    for (std::size_t t = 0; t < 300; ++t) {
      const auto row = std::span<const float>(stretch).subspan(t * 2 * pairs, 2 * pairs);
      ASSERT_TRUE(same_bits(row, std::span<const float>(list).subspan((299 - t) * 2 * pairs, 2 * pairs))) << t;
      std::vector<float> one(2 * pairs);
      const Position position = 5 + static_cast<Position>(t);
      rotation_row(rotation, Role::query, std::span(&position, 1), std::span(one).first(pairs),
                   std::span(one).last(pairs));
      ASSERT_TRUE(same_bits(row, std::span<const float>(one))) << t;
    }
  }
}

LOCUS_ON_EVERY_TARGET(RotateBits);

}  // namespace
}  // namespace locus
