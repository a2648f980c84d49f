// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "task.h"

namespace locus::lab {
namespace {

std::vector<std::int32_t> row_of(const Batch& batch, std::int64_t row) {
  const auto* first = batch.tokens.data() + row * batch.length;
  return {first, first + batch.length};
}

/// The pairs of indices whose swap sorts the sequence.
std::vector<std::pair<std::size_t, std::size_t>> mending_swaps(std::vector<std::int32_t> sequence) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    for (std::size_t j = i + 1; j < sequence.size(); ++j) {
      std::swap(sequence[i], sequence[j]);
      if (std::is_sorted(sequence.begin(), sequence.end())) found.emplace_back(i, j);
      std::swap(sequence[i], sequence[j]);
    }
  }
  return found;
}

TEST(Order, AnswersAreTrueAndHalfOfThemYes) {
  const auto task = make_task("order");
  ASSERT_TRUE(task->description().pooled);
  ASSERT_FALSE(task->description().causal);
  Random random(1);
  std::vector<Batch> batches;
  for (const std::int64_t length : {2, 3, 16, 128}) {
    batches.push_back(task->training(random, 200, length));
    batches.push_back(task->tests(random, 200, length).front().batch);
  }
  for (const Batch& batch : batches) {
    std::int64_t yes = 0;
    for (std::int64_t row = 0; row < batch.rows; ++row) {
      const std::vector<std::int32_t> sequence = row_of(batch, row);
      const bool ascending = std::is_sorted(sequence.begin(), sequence.end());
      ASSERT_EQ(batch.targets[static_cast<std::size_t>(row)], ascending ? 1 : 0) << "length " << batch.length;
      if (ascending) ++yes;
    }
    EXPECT_EQ(yes, 100);
  }
  EXPECT_DOUBLE_EQ(task->description().majority, 0.5);
  EXPECT_DOUBLE_EQ(task->description().chance, 0.5);
  EXPECT_DOUBLE_EQ(task->description().learned_at, 0.75);
}

TEST(Order, NegativesOfTestsAreOneSwapAway) {
  const auto task = make_task("order");
  Random random(2);
  const Batch batch = task->tests(random, 400, 16).front().batch;
  std::int64_t by_neighbours = 0;
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    if (batch.targets[static_cast<std::size_t>(row)] == 1) continue;
    const auto swaps = mending_swaps(row_of(batch, row));
    ASSERT_FALSE(swaps.empty()) << row;
    if (std::any_of(swaps.begin(), swaps.end(), [](const auto& swap) { return swap.second == swap.first + 1; })) {
      ++by_neighbours;
    }
  }
  // Half of the 200 by construction, and those distant swaps that happen to fall on neighbours.
  EXPECT_GE(by_neighbours, 100);
  EXPECT_LT(by_neighbours, 150);
}

TEST(Order, HalfOfTheNegativesOfTrainingAreAsHard) {
  const auto task = make_task("order");
  Random random(3);
  const Batch batch = task->training(random, 400, 16);
  std::int64_t one_swap_away = 0;
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    if (batch.targets[static_cast<std::size_t>(row)] == 0 && !mending_swaps(row_of(batch, row)).empty())
      ++one_swap_away;
  }
  // 100 by construction, and of the other 100 those, less than half, that have one swap or whose swaps came to one.
  EXPECT_GE(one_swap_away, 100);
  EXPECT_LT(one_swap_away, 150);
}

}  // namespace
}  // namespace locus::lab
