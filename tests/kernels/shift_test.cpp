// SPDX-License-Identifier: Apache-2.0
// Moves rotated keys to another position: shift(rotate(x, p), delta) is rotate(x, p + delta).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heads.h"
#include "locus/error.h"
#include "locus/executor.h"
#include "locus/rotate.h"
#include "support/on_every_target.h"

namespace locus {
namespace {

using testing::consecutive_ids;
using testing::double_row_error;
using testing::for_every_type;
using testing::Heads;
using testing::ids_of;
using testing::packed;
using testing::partner;
using testing::ragged;
using testing::rotation_error;
using testing::same_bits;
using testing::same_heads;
using testing::same_outside_heads;
using testing::value_of;

// The error of a rotated pair of this length, whichever of its elements is larger.
template <class T>
double pair_error(double length, double row_error) {
  return rotation_error<T>(length, length, row_error);
}

// The ratio of the error of shift(rotate(x)) to its bound: the error of the first rotation in both elements of the
// pair (sqrt(2) of one), scaled as the second rotation scales the pair, plus the error of the second rotation.
template <class T>
double error_over_bound(const Rotation& rotation, Role role, std::span<const Position> from,
                        std::span<const Position> to, std::span<const Position> deltas, std::span<const T> before,
                        std::span<const T> after) {
  std::vector<double> head;
  for (const T x : before) head.push_back(value_of(x));
  const std::vector<double> first = reference::rotate(rotation, role, Direction::forward, from, head);
  const std::vector<double> want = reference::rotate(rotation, role, Direction::forward, to, head);
  double worst = 0;
  for (std::int64_t j = rotation.rotary_offset; j < rotation.rotary_offset + rotation.rotary_dim; ++j) {
    const auto x = static_cast<std::size_t>(j);
    const auto y = static_cast<std::size_t>(partner(rotation, Direction::forward, j));
    const double first_length = std::hypot(first[x], first[y]);
    const double length = std::hypot(want[x], want[y]);
    const double bound =
        std::sqrt(2.0) * pair_error<T>(first_length, double_row_error(rotation, from)) * (length / first_length) +
        pair_error<T>(length, double_row_error(rotation, deltas) + double_row_error(rotation, to));
    const double share = std::fabs(value_of(after[x]) - want[x]) / bound;
    worst = share <= worst ? worst : share;
  }
  return worst;
}

struct ShiftCase {
  std::string name, scheme;
  Arguments arguments;
};

const std::vector<ShiftCase>& shift_cases() {
  static const std::vector<ShiftCase> all = {
      {"half", "rope", {{"head_dim", 34}, {"pairing", "half"}}},
      {"interleaved", "rope", {{"head_dim", 34}, {"pairing", "interleaved"}}},
      {"deinterleaved", "rope", {{"head_dim", 34}, {"pairing", "interleaved"}, {"output_order", "deinterleaved"}}},
      {"partial", "rope", {{"head_dim", 42}, {"pairing", "half"}, {"rotary_dim", 34}, {"rotary_offset", 3}}},
      {"magnitude",
       "rope",
       {{"head_dim", 34},
        {"pairing", "half"},
        {"rule", "yarn"},
        {"factor", 4},
        {"original_length", 64},
        {"attention_factor", 1.36888794541139363}}},
      {"xpos", "xpos", {{"head_dim", 34}, {"pairing", "interleaved"}, {"centre", 50}}},
  };
  return all;
}

const std::vector<Position> first_ids = {0, 1, 100, 1000, 5, 900};
const std::vector<Position> moves = {0, 1, -37, 1000, -5, -1800};

class ShiftTest : public testing::OnEveryTarget {};

TEST_P(ShiftTest, LandsWhereTheKeyWouldHaveBeenRotated) {
  const PositionIds from = ids_of(first_ids);
  const PositionIds deltas = ids_of(moves);
  for (const ShiftCase& one : shift_cases()) {
    SCOPED_TRACE(one.name);
    const Encoding encoding(one.scheme, one.arguments);
    const std::int64_t dim = encoding.rotation().head_dim;
    for_every_type([&](auto zero) {
      using T = decltype(zero);
      for (const Role role : {Role::key, Role::query}) {
        const Heads<T> before(ragged(1, 6, 3, dim));
        Heads<T> after = before;
        rotate(encoding, after.view(), from, role);
        const Heads<T> rotated = after;
        shift(encoding, after.view(), deltas, role);
        EXPECT_TRUE(same_outside_heads(rotated, after));
        for (std::size_t t = 0; t < 6; ++t) {
          const Position to = first_ids[t] + moves[t];
          for (std::int64_t h = 0; h < 3; ++h) {
            const auto token = static_cast<std::int64_t>(t);
            EXPECT_LE(error_over_bound<T>(encoding.rotation(), role, std::span(&first_ids[t], 1), std::span(&to, 1),
                                          std::span(&moves[t], 1), before.head(0, token, h),
                                          std::as_const(after).head(0, token, h)),
                      1)
                << first_ids[t] << " by " << moves[t];
            const std::int64_t start = encoding.rotation().rotary_offset;
            for (std::int64_t j = 0; j < dim; ++j) {
              if (j >= start && j < start + encoding.rotation().rotary_dim) continue;
              const auto at = static_cast<std::size_t>(j);
              EXPECT_TRUE(same_bits(before.head(0, token, h)[at], std::as_const(after).head(0, token, h)[at]));
            }
          }
        }
      }
    });
  }
}

// Every axis of M-RoPE moves by its own delta.
TEST_P(ShiftTest, EveryAxisByItself) {
  const Encoding encoding(
      "rope", {{"head_dim", 36}, {"pairing", "half"}, {"axes", "mrope"}, {"sections", std::vector<double>{6, 7, 5}}});
  const std::vector<Position> from = {10, 20, 30};
  const std::vector<Position> delta = {5, -7, 100};
  const std::vector<Position> to = {15, 13, 130};
  for_every_type([&](auto zero) {
    using T = decltype(zero);
    const Heads<T> before(packed(1, 1, 1, 36));
    Heads<T> after = before;
    rotate(encoding, after.view(), ids_of(from, 3), Role::key);
    shift(encoding, after.view(), ids_of(delta, 3));
    EXPECT_LE(error_over_bound<T>(encoding.rotation(), Role::key, from, to, delta, before.head(0, 0, 0),
                                  std::as_const(after).head(0, 0, 0)),
              1);
  });
}

// cos 0 = 1 and sin 0 = 0 exactly, and the scale of xPos is 1: a delta of 0 changes no bit, with or without a
// magnitude.
TEST_P(ShiftTest, ByNothingIsTheIdentity) {
  for (const ShiftCase& one : shift_cases()) {
    SCOPED_TRACE(one.name);
    const Encoding encoding(one.scheme, one.arguments);
    for_every_type([&](auto zero) {
      using T = decltype(zero);
      const Heads<T> before(packed(1, 2, 3, encoding.rotation().head_dim));
      Heads<T> after = before;
      shift(encoding, after.view(), ids_of({0, 0}));
      EXPECT_TRUE(same_bits(before.memory(), after.memory()));
    });
  }
}

// A shift and its inverse are two rotations, each with its own error; the error of the first is scaled back.
TEST_P(ShiftTest, BackRestores) {
  const PositionIds there = ids_of(moves);
  PositionIds back = there;
  for (Position& delta : back.ids) delta = -delta;
  for (const ShiftCase& one : shift_cases()) {
    SCOPED_TRACE(one.name);
    const Encoding encoding(one.scheme, one.arguments);
    const Rotation& rotation = encoding.rotation();
    for_every_type([&](auto zero) {
      using T = decltype(zero);
      const Heads<T> before(packed(1, 6, 2, rotation.head_dim));
      Heads<T> after = before;
      shift(encoding, after.view(), there);
      const Heads<T> away = after;
      shift(encoding, after.view(), back);
      for (std::int64_t t = 0; t < 6; ++t) {
        for (std::int64_t h = 0; h < 2; ++h) {
          for (std::int64_t j = rotation.rotary_offset; j < rotation.rotary_offset + rotation.rotary_dim; ++j) {
            const auto x = static_cast<std::size_t>(j);
            const auto y = static_cast<std::size_t>(partner(rotation, Direction::forward, j));
            const auto length = [&](const Heads<T>& heads) {
              return std::hypot(value_of(heads.head(0, t, h)[x]), value_of(heads.head(0, t, h)[y]));
            };
            const double row_error = double_row_error(rotation, std::span(&moves[static_cast<std::size_t>(t)], 1));
            const double bound = std::sqrt(2.0) * pair_error<T>(1.01 * length(away), row_error) *
                                     (1.01 * length(before) / length(away)) +
                                 pair_error<T>(1.01 * length(before), row_error);
            ASSERT_NEAR(value_of(std::as_const(after).head(0, t, h)[x]), value_of(before.head(0, t, h)[x]), bound)
                << moves[static_cast<std::size_t>(t)] << " at " << j;
          }
        }
      }
    });
  }
}

TEST_P(ShiftTest, SameBitsForAnyNumberOfThreads) {
  const std::int64_t tokens = 400;
  const std::int64_t heads = 40;  // work for 3 threads (256 KiB each), even in 16 bits
  const Encoding encoding("rope", {{"head_dim", 34}, {"pairing", "half"}});
  const PositionIds deltas = consecutive_ids(-200, tokens);
  for_every_type([&](auto zero) {
    using T = decltype(zero);
    const Heads<T> before(packed(1, tokens, heads, 34));
    Heads<T> alone = before;
    shift(encoding, alone.view(), deltas);
    for (const int threads : {2, 3}) {
      ThreadPool pool(threads);
      Heads<T> together = before;
      shift(encoding, together.view(), deltas, Role::key, &pool);
      EXPECT_TRUE(same_heads(alone, together));
    }
  });
}

LOCUS_ON_EVERY_TARGET(ShiftTest);

// Ids of a grid are cells, which cannot be added.
TEST(ShiftErrors, GridsAreRefused) {
  const Encoding encoding("rope", {{"head_dim", 8}, {"pairing", "half"}, {"axes", "pixtral"}, {"grid_width", 4}});
  Heads<float> heads(packed(1, 1, 1, 8));
  const Heads<float> before = heads;
  EXPECT_THROW(shift(encoding, heads.view(), ids_of({1})), Error);
  EXPECT_TRUE(same_heads(before, heads));
}

}  // namespace
}  // namespace locus
