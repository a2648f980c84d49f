// SPDX-License-Identifier: Apache-2.0
// The rotation kernel of every SIMD target against the reference in double.
#include "locus/rotate.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "heads.h"
#include "locus/error.h"
#include "support/on_every_target.h"

namespace locus {
namespace {

using testing::consecutive_ids;
using testing::error_over_bound;
using testing::for_every_type;
using testing::Heads;
using testing::ids_of;
using testing::packed;
using testing::ragged;
using testing::same_bits;
using testing::same_outside_heads;
using testing::Shape;

Encoding rope(const Arguments& more) {
  Arguments arguments{{"pairing", "half"}};
  for (const auto& [name, value] : more.all()) arguments.set(name, value);
  return Encoding("rope", arguments);
}

// The three orders of coordinates that a head may have.
const std::vector<Arguments>& orders() {
  static const std::vector<Arguments> all = {
      {{"pairing", "half"}},
      {{"pairing", "interleaved"}},
      {{"pairing", "interleaved"}, {"output_order", "deinterleaved"}},
  };
  return all;
}

Arguments with(Arguments arguments, const Arguments& more) {
  for (const auto& [name, value] : more.all()) arguments.set(name, value);
  return arguments;
}

// Rotates in place and out of place, forward and inverse, and compares each with the reference.
template <class T>
void check(const Encoding& encoding, const Shape& shape, const PositionIds& ids, Role role = Role::query) {
  for (const Direction direction : {Direction::forward, Direction::inverse}) {
    SCOPED_TRACE(direction == Direction::forward ? "forward" : "inverse");
    Heads<T> before(shape);
    Heads<T> in_place = before;
    rotate(encoding, in_place.view(), ids, role, direction);
    EXPECT_LE(error_over_bound(encoding, ids, role, direction, before, in_place), 1) << "in place";
    EXPECT_TRUE(same_outside_heads(before, in_place)) << "in place";

    Heads<T> input = before;
    Heads<T> output(shape, 2);
    const Heads<T> untouched = output;
    rotate(encoding, {input.view(), output.view()}, ids, role, direction);
    EXPECT_TRUE(same_bits(input.memory(), before.memory())) << "the input is only read";
    EXPECT_TRUE(same_heads(in_place, output)) << "out of place gives the bits of in place";
    EXPECT_TRUE(same_outside_heads(untouched, output)) << "out of place";
  }
}

void check_every_type(const Encoding& encoding, const Shape& shape, const PositionIds& ids, Role role = Role::query) {
  for_every_type([&](auto zero) { check<decltype(zero)>(encoding, shape, ids, role); });
}

class RotateTest : public testing::OnEveryTarget {
 protected:
  // Every tail of a vector, and both sides of four and of eight vectors, where the unrolled loop begins and repeats.
  static std::vector<std::int64_t> pair_counts() {
    std::vector<std::int64_t> counts;
    for (std::int64_t pairs = 1; pairs <= 2 * lanes() + 1; ++pairs) counts.push_back(pairs);
    for (const std::int64_t pairs : {5 * lanes() / 2, 3 * lanes(), 4 * lanes() - 1, 4 * lanes(), 4 * lanes() + 1,
                                     5 * lanes(), 8 * lanes(), 9 * lanes() + 3, 16 * lanes()}) {
      counts.push_back(pairs);
    }
    return counts;
  }
};

TEST_P(RotateTest, EveryNumberOfPairs) {
  for (const Arguments& order : orders()) {
    for (const std::int64_t pairs : pair_counts()) {
      SCOPED_TRACE(std::to_string(pairs) + " pairs, pairing " + order.text("pairing"));
      check_every_type(rope(with(order, {{"head_dim", 2 * pairs}})), packed(1, 2, 3, 2 * pairs), ids_of({1, 4095}));
    }
  }
}

// Heads share loads of cos and sin in groups; every count crosses their ends.
TEST_P(RotateTest, EveryNumberOfHeads) {
  for (const Arguments& order : orders()) {
    const Encoding encoding = rope(with(order, {{"head_dim", 70}}));
    for (std::int64_t heads = 1; heads <= 17; ++heads) {
      SCOPED_TRACE(std::to_string(heads) + " heads, pairing " + order.text("pairing"));
      check_every_type(encoding, packed(1, 1, heads, 70), ids_of({77}));
    }
  }
}

// A tensor above 1 MiB is processed in another order.
TEST_P(RotateTest, BeyondTheCache) {
  for (const Arguments& order : orders()) {
    const Encoding encoding = rope(with(order, {{"head_dim", 72}}));
    const Shape shape = packed(1, 600, 13, 72);
    Heads<float> before(shape);
    Heads<float> after = before;
    const PositionIds ids = consecutive_ids(0, 600);
    rotate(encoding, after.view(), ids);
    EXPECT_LE(error_over_bound(encoding, ids, Role::query, Direction::forward, before, after), 1);
  }
}

TEST_P(RotateTest, PartialWidthAtAnOffset) {
  for (const Arguments& order : orders()) {
    for (const std::int64_t pairs : {std::int64_t{1}, lanes(), 4 * lanes() + 3}) {
      for (const std::int64_t offset : {0, 1, 6}) {
        for (const std::int64_t tail : {0, 1, 5}) {
          const std::int64_t head_dim = offset + 2 * pairs + tail;
          SCOPED_TRACE(std::to_string(offset) + " + " + std::to_string(2 * pairs) + " + " + std::to_string(tail));
          const Encoding encoding =
              rope(with(order, {{"head_dim", head_dim}, {"rotary_dim", 2 * pairs}, {"rotary_offset", offset}}));
          check_every_type(encoding, packed(1, 2, 2, head_dim), ids_of({3, 1000}));
        }
      }
    }
  }
}

TEST_P(RotateTest, EveryLayout) {
  const std::int64_t dim = 2 * (lanes() + 1);
  const PositionIds shared = ids_of({5, 6, 9});
  const PositionIds apart = ids_of({5, 6, 9, 100, 101, 17}, 1, 2);
  for (const Arguments& order : orders()) {
    const Encoding encoding = rope(with(order, {{"head_dim", dim}}));
    for (const std::string axes : {"td", "thd", "htd", "bthd", "bhtd"}) {
      SCOPED_TRACE(axes);
      std::vector<std::int64_t> extents;
      for (const char axis : axes) extents.push_back(axis == 'b' ? 2 : axis == 't' ? 3 : axis == 'h' ? 4 : dim);
      const Shape shape{heads_view(nullptr, ElementType::float32, axes, extents)};
      check_every_type(encoding, shape, shared);
      if (axes[0] == 'b') check_every_type(encoding, shape, apart);
    }
  }
}

TEST_P(RotateTest, OddStridesOffAlignment) {
  for (const Arguments& order : orders()) {
    for (const std::int64_t dim : {std::int64_t{2}, 2 * lanes(), 10 * lanes() + 2}) {
      check_every_type(rope(with(order, {{"head_dim", dim}})), ragged(2, 3, 3, dim),
                       ids_of({5, 6, 9, 100, 101, 17}, 1, 2));
    }
  }
}

// If the two views have different layouts, an out-of-place rotation also transposes.
TEST_P(RotateTest, FromOneLayoutToAnother) {
  const std::int64_t dim = 4 * lanes() + 2;
  for (const Arguments& order : orders()) {
    const Encoding encoding = rope(with(order, {{"head_dim", dim + 3}, {"rotary_dim", dim}, {"rotary_offset", 1}}));
    for_every_type([&](auto zero) {
      using T = decltype(zero);
      Heads<T> input(packed(2, 3, 4, dim + 3));
      Heads<T> output(ragged(2, 3, 4, dim + 3), 2);
      const PositionIds ids = ids_of({0, 1, 2});
      rotate(encoding, {input.view(), output.view()}, ids);
      EXPECT_LE(error_over_bound(encoding, ids, Role::query, Direction::forward, input, output), 1);
    });
  }
}

TEST_P(RotateTest, ConsecutiveScatteredNegativeAndFarIds) {
  for (const Arguments& order : orders()) {
    const Encoding encoding = rope(with(order, {{"head_dim", 34}, {"base", 5e5}}));
    check_every_type(encoding, packed(1, 40, 1, 34), consecutive_ids(-20, 40));
    check_every_type(encoding, packed(1, 40, 1, 34), consecutive_ids(max_position - 39, 40));
    check_every_type(encoding, packed(1, 7, 2, 34),
                     ids_of({max_position, -max_position, 12345678, 0, 31, 32, 1 << 24}));
  }
}

// Keys of M-RoPE, grids, scales and other engines' arithmetic: the kernel applies any row.
TEST_P(RotateTest, EveryKindOfRow) {
  struct Case {
    std::string name, scheme;
    Arguments arguments;
    PositionIds ids;
  };
  const PositionIds three_axes = ids_of({0, 1, 2, 300, 0, 7, 7, 300, 0, 7, 8, 300}, 3);
  const PositionIds two_axes = ids_of({0, 1, 2, 3, 4, 4, 9, 3}, 2);
  const PositionIds one_axis = ids_of({0, 1, 25, 11});
  const std::vector<Case> cases = {
      {"mrope", "rope", {{"axes", "mrope"}, {"sections", std::vector<double>{6, 7, 5}}}, three_axes},
      {"mrope_interleaved",
       "rope",
       {{"axes", "mrope_interleaved"}, {"sections", std::vector<double>{8, 5, 5}}},
       three_axes},
      {"grid", "rope", {{"axes", "grid"}}, two_axes},
      {"pixtral", "rope", {{"axes", "pixtral"}, {"grid_width", 6}}, one_axis},
      {"dinov3", "rope", {{"axes", "dinov3"}, {"grid_height", 5}, {"grid_width", 7}, {"prefix", 1}}, one_axis},
      {"magnitude",
       "rope",
       {{"rule", "yarn"}, {"factor", 4}, {"original_length", 64}, {"attention_factor", 1.36888794541139363}},
       one_axis},
      {"small magnitude",
       "rope",
       {{"rule", "yarn"}, {"factor", 4}, {"original_length", 64}, {"attention_factor", 0.3}},
       one_axis},
      {"hf", "rope", {{"profile", "hf"}}, one_axis},
      {"ggml", "rope", {{"profile", "ggml"}}, one_axis},
      {"bfloat16 table", "rope", {{"profile", "hf"}, {"table_type", "bfloat16"}}, one_axis},
      {"xpos", "xpos", {{"centre", 100}}, ids_of({0, 1, 2000, -1500})},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    for (const std::string pairing : {"half", "interleaved"}) {
      const Encoding encoding(one.scheme, with(one.arguments, {{"head_dim", 36}, {"pairing", pairing}}));
      for (const Role role : {Role::query, Role::key}) check_every_type(encoding, packed(1, 4, 2, 36), one.ids, role);
    }
  }
}

// Queries and keys of one call, each with its own head count, strides and role (which only xPos distinguishes).
TEST_P(RotateTest, QueriesAndKeysOfGroupedHeads) {
  const std::int64_t dim = 2 * (2 * lanes() + 1);
  for (const std::string scheme : {"rope", "xpos"}) {
    for (const std::string pairing : {"half", "interleaved"}) {
      const Encoding encoding(scheme, {{"head_dim", dim}, {"pairing", pairing}});
      for_every_type([&](auto zero) {
        using T = decltype(zero);
        const PositionIds ids = ids_of({0, 1, 2, 40, 41, 900}, 1, 2);
        Heads<T> query(packed(2, 3, 7, dim));
        Heads<T> key(ragged(2, 3, 2, dim), 2);
        for (const Direction direction : {Direction::forward, Direction::inverse}) {
          Heads<T> turned_query = query;
          Heads<T> turned_key = key;
          rotate_query_key(encoding, turned_query.view(), turned_key.view(), ids, direction);
          EXPECT_LE(error_over_bound(encoding, ids, Role::query, direction, query, turned_query), 1);
          EXPECT_LE(error_over_bound(encoding, ids, Role::key, direction, key, turned_key), 1);
          EXPECT_TRUE(same_outside_heads(key, turned_key));
        }
      });
    }
  }
}

// Token t is stored in slot slots[t]; every other slot is unchanged.
TEST_P(RotateTest, AppendsToACache) {
  const std::int64_t dim = 2 * (lanes() + 3);
  for (const Arguments& order : orders()) {
    const Encoding encoding = rope(with(order, {{"head_dim", dim + 2}, {"rotary_dim", dim}, {"rotary_offset", 1}}));
    for_every_type([&](auto zero) {
      using T = decltype(zero);
      const PositionIds ids = ids_of({7, 8, 9, 107, 108, 109}, 1, 2);
      const std::vector<std::int64_t> slots = {4, 0, 5};
      Heads<T> keys(packed(2, 3, 2, dim + 2));
      Heads<T> cache(ragged(2, 6, 2, dim + 2), 2);
      const Heads<T> before = cache;
      rotate_into(encoding, keys.view(), {cache.view(), slots}, ids);
      EXPECT_TRUE(same_outside_heads(before, cache));
      for (std::int64_t batch = 0; batch < 2; ++batch) {
        for (std::int64_t head = 0; head < 2; ++head) {
          for (std::int64_t t = 0; t < 3; ++t) {
            EXPECT_LE(error_over_bound<T>(encoding.rotation(), Role::key, Direction::forward,
                                          testing::place(ids, batch, t), keys.head(batch, t, head),
                                          std::as_const(cache).head(batch, slots[static_cast<std::size_t>(t)], head)),
                      1);
          }
          for (const std::int64_t slot : {1, 2, 3}) {
            EXPECT_TRUE(same_bits(before.head(batch, slot, head), std::as_const(cache).head(batch, slot, head)));
          }
        }
      }
    });
  }
}

LOCUS_ON_EVERY_TARGET(RotateTest);

// With base 1 every pair rotates by one radian per position; 355 = 113 pi + 3.01e-5, so position 355 negates, and an
// element of the pair (1, 3) or (2, 4) is off by at most 4 * 3.01e-5.
TEST(RotateByHand, HalfATurnNegates) {
  const Encoding encoding = rope({{"head_dim", 6}, {"rotary_dim", 4}, {"rotary_offset", 1}, {"base", 1.0}});
  std::array<float, 6> head = {9, 1, 2, 3, 4, 8};
  const HeadsView view = heads_view(head.data(), ElementType::float32, "td", std::vector<std::int64_t>{1, 6});
  rotate(encoding, view, ids_of({355}));
  const std::array<float, 6> want = {9, -1, -2, -3, -4, 8};
  for (std::size_t j = 0; j < head.size(); ++j) EXPECT_NEAR(head[j], want[j], 1.3e-4) << j;
}

// cos 1 = 0.5403, sin 1 = 0.8415: (1, 0) -> (cos, sin), (0, 1) -> (-sin, cos).
TEST(RotateByHand, OneRadian) {
  const float c = 0.5403023f;
  const float s = 0.8414710f;
  const auto rotated = [](const Arguments& order, Direction direction) {
    std::array<float, 4> head = {1, 0, 0, 0};
    const Encoding encoding = rope(with(order, {{"head_dim", 4}, {"base", 1.0}}));
    rotate(encoding, heads_view(head.data(), ElementType::float32, "td", std::vector<std::int64_t>{1, 4}), ids_of({1}),
           Role::query, direction);
    return head;
  };
  const auto expect_near = [](const std::array<float, 4>& got, const std::array<float, 4>& want) {
    for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(got[j], want[j], 1e-7) << j;
  };
  expect_near(rotated(orders()[0], Direction::forward), {c, 0, s, 0});
  expect_near(rotated(orders()[1], Direction::forward), {c, s, 0, 0});
  expect_near(rotated(orders()[2], Direction::forward), {c, 0, s, 0});
  expect_near(rotated(orders()[0], Direction::inverse), {c, 0, -s, 0});
  expect_near(rotated(orders()[1], Direction::inverse), {c, -s, 0, 0});
  expect_near(rotated(orders()[2], Direction::inverse), {c, -s, 0, 0});
}

TEST(HeadsViewTest, StridesOfEveryLayout) {
  const auto expect = [](const HeadsView& view, std::array<std::int64_t, 7> want) {
    EXPECT_EQ((std::array{view.batch, view.tokens, view.heads, view.head_dim, view.batch_stride, view.token_stride,
                          view.head_stride}),
              want);
  };
  const auto view = [](std::string_view axes, std::vector<std::int64_t> extents) {
    return heads_view(nullptr, ElementType::float32, axes, extents);
  };
  expect(view("td", {3, 8}), {1, 3, 1, 8, 0, 8, 0});
  expect(view("thd", {3, 4, 8}), {1, 3, 4, 8, 0, 32, 8});
  expect(view("htd", {4, 3, 8}), {1, 3, 4, 8, 0, 8, 24});
  expect(view("bthd", {2, 3, 4, 8}), {2, 3, 4, 8, 96, 32, 8});
  expect(view("bhtd", {2, 4, 3, 8}), {2, 3, 4, 8, 96, 8, 24});
  EXPECT_THROW(view("dht", {2, 3, 4}), Error);
  EXPECT_THROW(view("thd", {2, 3}), Error);
}

TEST(RotateEdges, NothingToDoIsFine) {
  const Encoding encoding = rope({{"head_dim", 8}});
  for (const Shape& shape : {packed(1, 0, 2, 8), packed(0, 3, 2, 8), packed(1, 3, 0, 8)}) {
    HeadsView view = shape.view;
    EXPECT_NO_THROW(rotate(encoding, view, consecutive_ids(0, view.tokens)));
    EXPECT_NO_THROW(rotate_query_key(encoding, view, view, consecutive_ids(0, view.tokens)));
    EXPECT_NO_THROW(shift(encoding, view, consecutive_ids(0, view.tokens)));
  }
}

}  // namespace
}  // namespace locus
