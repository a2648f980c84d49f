// SPDX-License-Identifier: Apache-2.0
// No kernel reads or writes beyond its views, and none writes anything on an error.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "guarded_buffer.h"
#include "heads.h"
#include "locus/add.h"
#include "locus/error.h"
#include "locus/rotate.h"
#include "locus/rows.h"
#include "support/on_every_target.h"

namespace locus {
namespace {

using testing::consecutive_ids;
using testing::for_every_type;
using testing::GuardedBuffer;
using testing::ids_of;
using testing::last_index;
using testing::packed;
using testing::ragged;
using testing::random_elements;
using testing::Shape;
using testing::Side;

// The heads of `shape`, exactly up to a protected page.
template <class T>
class GuardedHeads {
 public:
  GuardedHeads(const Shape& shape, Side side)
      : shape_(shape), memory_(random_elements<T>(static_cast<std::size_t>(last_index(shape.view) + 1), 1), side) {}
  HeadsView view() {
    HeadsView view = shape_.view;
    view.type = element_type_of<T>;
    view.data = memory_.data();
    return view;
  }
  GuardedBuffer& memory() { return memory_; }
  bool intact() const { return memory_.intact(); }

 private:
  Shape shape_;
  GuardedBuffer memory_;
};

Shape transposed(std::int64_t tokens, std::int64_t heads, std::int64_t dim) {
  return {heads_view(nullptr, ElementType::float32, "htd", std::vector<std::int64_t>{heads, tokens, dim})};
}

// The three orders of coordinates, all of the head or a part of it.
std::vector<Encoding> encodings(std::int64_t pairs) {
  std::vector<Encoding> all;
  for (const std::string pairing : {"half", "interleaved"}) {
    for (const std::string order : {"same", "deinterleaved"}) {
      if (pairing == "half" && order == "deinterleaved") continue;
      const Arguments whole{{"head_dim", 2 * pairs}, {"pairing", pairing}, {"output_order", order}};
      Arguments part = whole;
      part.set("head_dim", 2 * pairs + 4);
      part.set("rotary_dim", 2 * pairs);
      part.set("rotary_offset", 1);
      all.emplace_back("rope", whole);
      all.emplace_back("rope", part);
    }
  }
  return all;
}

template <class T>
void rotate_everywhere(const Encoding& encoding, const Shape& shape, Side side) {
  const PositionIds ids = consecutive_ids(3, shape.view.tokens);
  for (const Direction direction : {Direction::forward, Direction::inverse}) {
    GuardedHeads<T> in_place(shape, side);
    rotate(encoding, in_place.view(), ids, Role::query, direction);
    EXPECT_TRUE(in_place.intact());

    GuardedHeads<T> input(shape, side);
    GuardedHeads<T> output(shape, side);
    input.memory().make_read_only();
    rotate(encoding, input.view(), output.view(), ids, Role::query, direction);
    EXPECT_TRUE(output.intact());

    GuardedHeads<T> query(shape, side);
    GuardedHeads<T> key(shape, side);
    rotate_query_key(encoding, query.view(), key.view(), ids, direction);
    EXPECT_TRUE(query.intact() && key.intact());
  }
  GuardedHeads<T> keys(shape, side);
  GuardedHeads<T> cache(shape, side);
  keys.memory().make_read_only();
  std::vector<std::int64_t> slots;
  for (std::int64_t t = shape.view.tokens; t-- > 0;) slots.push_back(t);
  rotate_into(encoding, keys.view(), cache.view(), slots, ids);
  EXPECT_TRUE(cache.intact());

  GuardedHeads<T> moved(shape, side);
  shift(encoding, moved.view(), ids);
  EXPECT_TRUE(moved.intact());
}

class GuardPage : public testing::OnEveryTarget {
 protected:
  template <class Check>
  static void for_every_size(const Check& check) {
    std::vector<std::int64_t> sizes = {4 * lanes(), 4 * lanes() + 1};
    for (std::int64_t size = 1; size <= 2 * lanes() + 1; ++size) sizes.push_back(size);
    for (const std::int64_t size : sizes) {
      for (const Side side : {Side::before, Side::after}) {
        SCOPED_TRACE(std::to_string(size) + (side == Side::before ? ", guard before" : ", guard after"));
        check(size, side);
      }
    }
  }
};

TEST_P(GuardPage, Rotations) {
  for_every_size([](std::int64_t pairs, Side side) {
    for (const Encoding& encoding : encodings(pairs)) {
      const std::int64_t dim = encoding.rotation().head_dim;
      for (const Shape& shape : {packed(1, 2, 2, dim), transposed(2, 2, dim), ragged(2, 2, 2, dim)}) {
        for_every_type([&](auto zero) { rotate_everywhere<decltype(zero)>(encoding, shape, side); });
      }
    }
  });
}

TEST_P(GuardPage, Additions) {
  for_every_size([](std::int64_t dim, Side side) {
    for_every_type([&](auto zero) {
      using T = decltype(zero);
      for (const Encoding& encoding :
           {Encoding("sinusoidal", {{"dim", dim}}), Encoding("learned", {{"max_positions", 8}, {"dim", dim}})}) {
        GuardedBuffer memory(random_elements<T>(static_cast<std::size_t>(3 * dim), 1), side);
        const HiddenView view{
            .data = memory.data(), .type = element_type_of<T>, .tokens = 3, .dim = dim, .token_stride = dim};
        add(encoding, view, ids_of({5, 6, 7}));
        EXPECT_TRUE(memory.intact());
      }
    });
  });
}

TEST_P(GuardPage, Rows) {
  const auto check = [](auto zero, const Encoding& encoding, Side side) {
    using T = decltype(zero);
    const Rotation& rotation = encoding.rotation();
    const auto pairs = static_cast<std::size_t>(rotation.pairs());
    GuardedBuffer cos(pairs * sizeof(T), side);
    GuardedBuffer sin(pairs * sizeof(T), side);
    const std::vector<Position> ids(static_cast<std::size_t>(rotation.axes), 70);
    rotation_row(rotation, Role::key, ids, std::span(cos.as<T>(), pairs), std::span(sin.as<T>(), pairs));
    EXPECT_TRUE(cos.intact() && sin.intact());
  };
  for_every_size([&](std::int64_t pairs, Side side) {
    std::vector<Encoding> all = {Encoding("rope", {{"head_dim", 2 * pairs}, {"pairing", "half"}}),
                                 Encoding("rope", {{"head_dim", 2 * pairs}, {"pairing", "half"}, {"profile", "hf"}}),
                                 Encoding("rope", {{"head_dim", 2 * pairs}, {"pairing", "half"}, {"profile", "ggml"}}),
                                 Encoding("xpos", {{"head_dim", 2 * pairs}, {"pairing", "half"}})};
    for (const Encoding& encoding : all) {
      GuardedBuffer rows(static_cast<std::size_t>(2 * 2 * pairs) * sizeof(float), side);
      rotation_rows(encoding.rotation(), 31, 2, rows.as<float>());
      EXPECT_TRUE(rows.intact());
    }
    all.emplace_back("rope", Arguments{{"head_dim", 2 * pairs},
                                       {"pairing", "half"},
                                       {"axes", "mrope"},
                                       {"sections", std::vector<double>{0, static_cast<double>(pairs)}}});
    for (const Encoding& encoding : all) {
      check(float(), encoding, side);
      check(double(), encoding, side);
    }
    const Encoding waves("sinusoidal", {{"dim", pairs}});
    const auto dim = static_cast<std::size_t>(pairs);
    GuardedBuffer row(dim * sizeof(float), side);
    hidden_row(waves.hidden(), 70, std::span(row.as<float>(), dim));
    GuardedBuffer wide(dim * sizeof(double), side);
    hidden_row(waves.hidden(), 70, std::span(wide.as<double>(), dim));
    EXPECT_TRUE(row.intact() && wide.intact());
  });
}

LOCUS_ON_EVERY_TARGET(GuardPage);

// The guard works: an access one element beyond ends the process.
TEST(GuardPageDeathTest, OneElementBeyondIsCaught) {
  GuardedBuffer after(6, Side::after);
  GuardedBuffer before(6, Side::before);
  EXPECT_DEATH(after.as<volatile std::uint16_t>()[3] = 1, "");
  EXPECT_DEATH(before.as<volatile std::uint16_t>()[-1] = 1, "");
  EXPECT_TRUE(after.intact());
  before.as<std::uint16_t>()[3] = 1;
  EXPECT_FALSE(before.intact());
}

// Errors are found before the first write: the memory is read-only, so an early write would crash.
TEST(NothingWrittenOnError, Rotations) {
  const Encoding encoding("rope", {{"head_dim", 8}, {"pairing", "interleaved"}});
  const Encoding xpos("xpos", {{"head_dim", 8}, {"pairing", "interleaved"}});
  ThreadPool pool(2);
  const std::int64_t tokens = 20000;  // enough for two threads
  GuardedHeads<float> query(packed(1, tokens, 2, 8), Side::after);
  GuardedHeads<float> key(packed(1, tokens, 1, 8), Side::after);
  query.memory().make_read_only();
  key.memory().make_read_only();
  const HeadsView q = query.view();
  const HeadsView k = key.view();
  const auto last_is = [&](Position id) {
    PositionIds ids = consecutive_ids(0, tokens);
    ids.ids.back() = id;
    return ids;
  };
  const PositionIds good = last_is(0);
  for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&pool)}) {
    for (const Position id : {max_position + 1, -max_position - 1}) {
      const PositionIds bad = last_is(id);
      EXPECT_THROW(rotate(encoding, q, bad, Role::query, Direction::forward, executor), Error);
      EXPECT_THROW(rotate_query_key(encoding, q, k, bad, Direction::forward, executor), Error);
      EXPECT_THROW(shift(encoding, q, bad, Role::key, executor), Error);
    }
    EXPECT_THROW(rotate(xpos, q, last_is(40000), Role::query, Direction::forward, executor), Error)
        << "beyond its reach";
    EXPECT_THROW(shift(xpos, q, last_is(40000), Role::key, executor), Error) << "its scale leaves float32";

    // Keys and cache that do not fit the call.
    std::vector<std::int64_t> slots(static_cast<std::size_t>(tokens));
    for (std::size_t t = 0; t < slots.size(); ++t) slots[t] = static_cast<std::int64_t>(t);
    GuardedHeads<float> cache_memory(packed(1, tokens, 2, 8), Side::after);
    cache_memory.memory().make_read_only();
    const HeadsView cache = cache_memory.view();
    EXPECT_THROW(rotate_into(encoding, q, cache, slots, last_is(max_position + 1), Role::key, executor), Error);
    for (const std::int64_t slot : {tokens, std::int64_t{-1}, std::int64_t{0}}) {  // beyond, before, taken
      std::vector<std::int64_t> bad_slots = slots;
      bad_slots.back() = slot;
      EXPECT_THROW(rotate_into(encoding, q, cache, bad_slots, good, Role::key, executor), Error);
    }
    EXPECT_THROW(rotate_into(encoding, q, k, slots, good, Role::key, executor), Error) << "other heads";
    EXPECT_THROW(rotate_into(encoding, q, q, slots, good, Role::key, executor), Error) << "its own cache";
    EXPECT_THROW(rotate_into(encoding, q, cache, std::span(slots).first(3), good, Role::key, executor), Error);

    // Shapes and ids that do not fit.
    HeadsView other = q;
    other.type = ElementType::bfloat16;
    EXPECT_THROW(rotate(encoding, q, other, good, Role::query, Direction::forward, executor), Error);
    other = q;
    other.head_dim = 6;
    EXPECT_THROW(rotate(encoding, other, good, Role::query, Direction::forward, executor), Error);
    EXPECT_THROW(rotate_query_key(encoding, q, other, good, Direction::forward, executor), Error);
    other = q;
    other.tokens = tokens - 1;
    EXPECT_THROW(rotate(encoding, q, other, good, Role::query, Direction::forward, executor), Error);
    EXPECT_THROW(rotate(encoding, other, good, Role::query, Direction::forward, executor), Error);
    PositionIds two_axes = good;
    two_axes.axes = 2;
    EXPECT_THROW(rotate(encoding, q, two_axes, Role::query, Direction::forward, executor), Error);
    PositionIds cut = good;
    cut.ids.pop_back();
    EXPECT_THROW(rotate(encoding, q, cut, Role::query, Direction::forward, executor), Error);
    EXPECT_THROW(shift(encoding, q, cut, Role::key, executor), Error);
  }
}

TEST(NothingWrittenOnError, Additions) {
  const Encoding learned("learned", {{"max_positions", 10}, {"dim", 4}});
  const Encoding waves("sinusoidal", {{"dim", 4}});
  GuardedBuffer memory(std::vector<float>(12, 1.0f), Side::after);
  memory.make_read_only();
  const HiddenView view{.data = memory.data(), .tokens = 3, .dim = 4, .token_stride = 4};
  EXPECT_THROW(add(learned, view, ids_of({0, 1, 10})), Error) << "beyond the table";
  EXPECT_THROW(add(learned, view, ids_of({0, 1, -1})), Error);
  EXPECT_THROW(add(waves, view, ids_of({0, 1, max_position + 1})), Error);
  EXPECT_THROW(add(waves, view, ids_of({0, 1})), Error);
  EXPECT_THROW(add(waves, view, ids_of({0, 1, 2, 0, 1, 2}, 2)), Error) << "two axes";
  HiddenView narrow = view;
  narrow.dim = 3;
  EXPECT_THROW(add(waves, narrow, ids_of({0, 1, 2})), Error);
}

}  // namespace
}  // namespace locus
