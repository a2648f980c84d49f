// SPDX-License-Identifier: Apache-2.0
// `back` and `first`: the targets, and that only the position determines them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "task.h"

namespace locus::lab {
namespace {

TEST(Back, TargetIsTheTokenFiveStepsBack) {
  const auto task = make_task("back");
  Random random(1);
  const Batch batch = task->training(random, 3, 8);
  for (std::size_t row = 0; row < 3; ++row) {
    const auto* x = batch.tokens.data() + row * 8;
    const std::vector<std::int32_t> expected = {-1, -1, -1, -1, -1, x[0], x[1], x[2]};
    EXPECT_EQ(std::vector<std::int32_t>(batch.targets.begin() + static_cast<std::ptrdiff_t>(row * 8),
                                        batch.targets.begin() + static_cast<std::ptrdiff_t>(row * 8 + 8)),
              expected);
  }
}

TEST(First, TargetIsTheFirstToken) {
  const auto task = make_task("first");
  Random random(1);
  const Batch batch = task->training(random, 3, 4);
  for (std::size_t row = 0; row < 3; ++row) {
    const std::int32_t x = batch.tokens[row * 4];
    const std::vector<std::int32_t> expected = {-1, x, x, x};
    EXPECT_EQ(std::vector<std::int32_t>(batch.targets.begin() + static_cast<std::ptrdiff_t>(row * 4),
                                        batch.targets.begin() + static_cast<std::ptrdiff_t>(row * 4 + 4)),
              expected);
  }
}

// Counts over n draws of probability p are within 5 standard deviations, sqrt(n p (1 - p)), except in one case in a
// million; the seed is fixed.
void expect_uniform(const std::vector<std::int32_t>& draws, std::int64_t values) {
  const auto n = static_cast<double>(draws.size());
  const double p = 1 / static_cast<double>(values);
  for (std::int32_t value = 0; value < values; ++value) {
    const auto count = static_cast<double>(std::count(draws.begin(), draws.end(), value));
    EXPECT_NEAR(count, n * p, 5 * std::sqrt(n * p * (1 - p))) << value;
  }
}

TEST(Copies, NoFixedAnswerBeatsAGuess) {
  for (const char* name : {"back", "first"}) {
    SCOPED_TRACE(name);
    const auto task = make_task(name);
    Random random(11);
    // Length 6: one independent target per row in `back`, and the last of five equal ones in `first`.
    const Batch batch = task->tests(random, 20000, 6).front().batch;
    std::vector<std::int32_t> answers;
    for (std::size_t row = 0; row < 20000; ++row) answers.push_back(batch.targets[row * 6 + 5]);
    expect_uniform(answers, task->description().vocabulary);
    EXPECT_DOUBLE_EQ(task->description().majority, 1.0 / static_cast<double>(task->description().vocabulary));
    EXPECT_DOUBLE_EQ(task->description().chance, task->description().majority);
    EXPECT_DOUBLE_EQ(task->description().learned_at, (1.0 / 16 + 1) / 2);
  }
}

// The first token is drawn like every other: only its position identifies it.
TEST(First, IsNotMarked) {
  const auto task = make_task("first");
  Random random(12);
  const Batch batch = task->training(random, 20000, 4);
  for (std::size_t position = 0; position < 4; ++position) {
    std::vector<std::int32_t> tokens;
    for (std::size_t row = 0; row < 20000; ++row) tokens.push_back(batch.tokens[row * 4 + position]);
    expect_uniform(tokens, 16);
  }
}

}  // namespace
}  // namespace locus::lab
