// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "task.h"

namespace locus::lab {
namespace {

constexpr std::int32_t key_mark = 10;
constexpr std::int32_t question = 11;

struct Reading {
  std::int64_t before = -1;  ///< noise tokens before the key
  std::vector<std::int32_t> key;
};

/// Reads a row of the format `noise K key noise ? key-but-its-last-digit` and checks every token and target of it.
Reading read_row(const Batch& batch, std::int64_t row) {
  const auto* tokens = batch.tokens.data() + row * batch.length;
  const auto* targets = batch.targets.data() + row * batch.length;
  const auto* answers = batch.answers.data() + row * batch.length;
  Reading reading;
  for (std::int64_t i = 0; i < batch.length; ++i) {
    if (tokens[i] == key_mark) reading.before = i;
  }
  if (reading.before < 0) {
    ADD_FAILURE() << "no key in row " << row;
    return reading;
  }
  reading.key.assign(tokens + reading.before + 1, tokens + reading.before + 4);
  std::vector<std::int32_t> shape(static_cast<std::size_t>(batch.length), -1);  // -1: noise
  const auto put = [&](std::int64_t at, std::int32_t token) { shape[static_cast<std::size_t>(at)] = token; };
  put(reading.before, key_mark);
  put(batch.length - 3, question);
  for (std::int64_t i = 0; i < 3; ++i) {
    const std::int32_t digit = reading.key[static_cast<std::size_t>(i)];
    EXPECT_GE(digit, 0);
    EXPECT_LT(digit, 10);
    put(reading.before + 1 + i, digit);
    if (i < 2) put(batch.length - 2 + i, digit);
    EXPECT_EQ(targets[batch.length - 3 + i], digit);
    EXPECT_EQ(answers[batch.length - 3 + i], answers[batch.length - 3]);
  }
  for (std::int64_t i = 0; i < batch.length; ++i) {
    const std::int32_t expected = shape[static_cast<std::size_t>(i)];
    EXPECT_EQ(tokens[i] > question ? -1 : tokens[i], expected) << "row " << row << ", token " << i;
    if (i < batch.length - 3) {
      EXPECT_EQ(targets[i], -1);
      EXPECT_EQ(answers[i], -1);
    }
  }
  return reading;
}

TEST(Passkey, TestsAskAtFiveDepths) {
  const auto task = make_task("passkey");
  Random random(1);
  const std::vector<TestSet> sets = task->tests(random, 20, 64);
  // 64 tokens minus K, the key of 3, ? and 2 digits leave 57 of noise: 0, 14.25, 28.5, 42.75, 57 of them before the
  // key.
  const std::vector<std::pair<std::int64_t, std::int64_t>> depths = {{0, 0}, {25, 14}, {50, 29}, {75, 43}, {100, 57}};
  ASSERT_EQ(sets.size(), depths.size());
  for (std::size_t i = 0; i < sets.size(); ++i) {
    EXPECT_EQ(sets[i].name, "accuracy");
    EXPECT_EQ(sets[i].metric, Metric::accuracy);
    EXPECT_EQ(sets[i].place, depths[i].first);
    std::set<std::int32_t> answers;
    for (std::int64_t row = 0; row < 20; ++row) {
      EXPECT_EQ(read_row(sets[i].batch, row).before, depths[i].second);
      answers.insert(sets[i].batch.answers[static_cast<std::size_t>(row * 64 + 63)]);
    }
    EXPECT_EQ(answers.size(), 20u) << "one answer per row";
  }
}

TEST(Passkey, TheShortestContextHasNoNoise) {
  const auto task = make_task("passkey");
  Random random(1);
  for (const TestSet& set : task->tests(random, 3, 7)) {
    for (std::int64_t row = 0; row < 3; ++row) EXPECT_EQ(read_row(set.batch, row).before, 0);
  }
}

TEST(Passkey, TrainingHidesTheKeyAnywhere) {
  const auto task = make_task("passkey");
  Random random(2);
  constexpr std::int64_t rows = 11600;
  const Batch batch = task->training(random, rows, 64);
  std::vector<int> counts(58, 0);
  for (std::int64_t row = 0; row < rows; ++row) ++counts.at(static_cast<std::size_t>(read_row(batch, row).before));
  // Binomial with n p = 200: within 5 standard deviations except in one case in a million; the seed is fixed.
  for (const int count : counts) EXPECT_NEAR(count, 200, 5 * std::sqrt(200.0 * 57 / 58));
}

TEST(Passkey, KeysOfTestsAreNeverTrainedOn) {
  const auto task = make_task("passkey");
  Random random(3);
  std::set<std::vector<std::int32_t>> trained;
  std::set<std::vector<std::int32_t>> tested;
  const Batch training = task->training(random, 20000, 7);
  for (std::int64_t row = 0; row < training.rows; ++row) trained.insert(read_row(training, row).key);
  for (const TestSet& set : task->tests(random, 1000, 7)) {
    for (std::int64_t row = 0; row < set.batch.rows; ++row) tested.insert(read_row(set.batch, row).key);
  }
  for (const auto& key : tested) {
    ASSERT_FALSE(trained.contains(key));
    ASSERT_EQ(std::set<std::int32_t>(key.begin(), key.end()).size(), 3u) << "three different digits";
  }
  // 10 x 9 x 8 keys in all, each drawn more than 30 times on average: one is missed with less than 720 e^-30.
  EXPECT_EQ(trained.size() + tested.size(), 720u);
  // All test keys are equally likely, so any of them is the best fixed answer.
  EXPECT_DOUBLE_EQ(task->description().majority, 1.0 / static_cast<double>(tested.size()));
  EXPECT_DOUBLE_EQ(task->description().chance, 1e-3);
}

}  // namespace
}  // namespace locus::lab
