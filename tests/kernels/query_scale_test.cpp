// SPDX-License-Identifier: Apache-2.0
// Queries with a factor by position, through every element type: rotated and unrotated coordinates, in place and not,
// one factor or another from token to token; keys without it.
#include <gtest/gtest.h>

#include <cmath>

#include "locus/error.h"
#include "locus/positions.h"
#include "locus/reference.h"
#include "locus/rotate.h"
#include "locus/turn_output.h"

namespace locus {
namespace {

constexpr std::int64_t token_count = 40, head_count = 3, dim = 24;

std::vector<float> numbers(std::size_t count) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(std::sin(static_cast<float>(7 * i + 1)));
  return values;
}

Encoding scaled(const std::string& kind, const std::string& pairing) {
  return Encoding("rope", {{"head_dim", dim},
                           {"rotary_dim", 16},
                           {"rotary_offset", 4},
                           {"pairing", pairing},
                           {"temperature", kind},
                           {"temperature_length", 8}});
}

void expect_like_reference(const Encoding& encoding, Role role) {
  const std::vector<float> input = numbers(static_cast<std::size_t>(token_count * head_count * dim));
  const std::int64_t extents[] = {token_count, head_count, dim};
  const PositionIds ids = positions::prefill(token_count, 3);
  std::vector<float> in_place = input, from = input, to(input.size());
  rotate(encoding, heads_view(in_place.data(), ElementType::float32, "thd", extents), ids, role);
  rotate(encoding,
         RotateViews{heads_view(from.data(), ElementType::float32, "thd", extents),
                     heads_view(to.data(), ElementType::float32, "thd", extents)},
         ids, role);
  EXPECT_EQ(in_place, to);
  const std::vector<double> wide(input.begin(), input.end());
  for (std::size_t head = 0; head < input.size(); head += dim) {
    const Position id[] = {ids.ids[head / (head_count * dim)]};
    const std::vector<double> want =
        reference::rotate(encoding.rotation(), role, Direction::forward, id, std::span(wide).subspan(head, dim));
    for (std::size_t j = 0; j < want.size(); ++j) {
      EXPECT_NEAR(static_cast<double>(in_place[head + j]), want[j], 1e-6) << "position " << id[0] << ", " << j;
    }
  }
}

TEST(QueryScale, IsFusedIntoTheRotation) {
  for (const char* kind : {"steps", "logarithm"}) {
    for (const char* pairing : {"half", "interleaved"}) {
      expect_like_reference(scaled(kind, pairing), Role::query);
      expect_like_reference(scaled(kind, pairing), Role::key);
    }
  }
  const Encoding alone("query_temperature", {{"head_dim", dim}, {"temperature_length", 8}});
  expect_like_reference(alone, Role::query);
  expect_like_reference(alone, Role::key);
}

TEST(QueryScale, LeavesKeysAlone) {
  const Encoding alone("query_temperature", {{"head_dim", dim}, {"temperature_length", 8}});
  const std::vector<float> input = numbers(static_cast<std::size_t>(token_count * head_count * dim));
  std::vector<float> keys = input;
  const std::int64_t extents[] = {token_count, head_count, dim};
  rotate(alone, heads_view(keys.data(), ElementType::float32, "thd", extents), positions::prefill(token_count),
         Role::key);
  EXPECT_EQ(keys, input);
}

// The output of attention on values turned like keys, turned back: what a head at its own position gets from itself.
TEST(TurnOutput, UndoesTheTurnOfValues) {
  const Encoding rope(
      "rope",
      {{"head_dim", dim}, {"rotary_dim", 8}, {"rotary_offset", 16}, {"pairing", "half"}, {"turned_output", true}});
  std::vector<float> values = numbers(static_cast<std::size_t>(token_count * head_count * dim));
  const std::vector<float> input = values;
  const std::int64_t extents[] = {token_count, head_count, dim};
  const HeadsView view = heads_view(values.data(), ElementType::float32, "thd", extents);
  rotate(rope, view, positions::prefill(token_count, 1000), Role::key);
  turn_output(rope, view, positions::prefill(token_count, 1000));
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], input[i], 1e-6f);
  const Encoding plain("rope", {{"head_dim", dim}, {"pairing", "half"}});
  EXPECT_THROW(turn_output(plain, view, positions::prefill(token_count)), Error);
}

}  // namespace
}  // namespace locus
