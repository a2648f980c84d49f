// SPDX-License-Identifier: Apache-2.0
// Properties of every task: names, shapes, ranges, the same numbers from the same random source, clear refusals.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "locus/error.h"
#include "support/error_of.h"
#include "task.h"

namespace locus::lab {
namespace {

using testing::error_of;

std::string some_text() {
  const std::string path = ::testing::TempDir() + "lab_tasks_registry_text_" + std::to_string(getpid()) + ".txt";
  std::ofstream file(path);
  for (int line = 0; line < 400; ++line) file << "line " << line << " of a text that is read by byte\n";
  return path;
}

std::unique_ptr<Task> any_task(const std::string& name) { return make_task(name, some_text()); }

void expect_equal(const Batch& one, const Batch& other) {
  EXPECT_EQ(one.rows, other.rows);
  EXPECT_EQ(one.length, other.length);
  EXPECT_EQ(one.tokens, other.tokens);
  EXPECT_EQ(one.targets, other.targets);
  EXPECT_EQ(one.answers, other.answers);
}

void expect_sound(const Batch& batch, const TaskDescription& task, std::int64_t rows, std::int64_t length) {
  ASSERT_EQ(batch.rows, rows);
  ASSERT_EQ(batch.length, length);
  const auto all = static_cast<std::size_t>(rows * length);
  ASSERT_EQ(batch.tokens.size(), all);
  ASSERT_EQ(batch.targets.size(), task.pooled ? static_cast<std::size_t>(rows) : all);
  for (const std::int32_t token : batch.tokens) {
    ASSERT_GE(token, 0);
    ASSERT_LT(token, task.vocabulary);
  }
  std::size_t asked = 0;
  for (const std::int32_t target : batch.targets) {
    ASSERT_GE(target, -1);
    ASSERT_LT(target, task.vocabulary);
    if (target >= 0) ++asked;
  }
  EXPECT_GT(asked, 0u);
  if (batch.answers.empty()) return;
  ASSERT_EQ(batch.answers.size(), batch.targets.size());
  for (std::size_t i = 0; i < batch.answers.size(); ++i) ASSERT_EQ(batch.answers[i] >= 0, batch.targets[i] >= 0);
}

TEST(Registry, NamesEveryTask) {
  const std::vector<std::string> expected = {"verbs", "passkey", "back", "first", "order", "text"};
  EXPECT_EQ(task_names(), expected);
  for (const std::string& name : expected) EXPECT_EQ(any_task(name)->description().name, name);
}

TEST(Registry, RefusesOtherNames) {
  const std::string message = error_of([] { make_task("verb"); });
  EXPECT_NE(message.find("'verb'"), std::string::npos) << message;
  EXPECT_NE(message.find("verbs, passkey, back, first, order, text"), std::string::npos) << message;
}

TEST(EveryTask, DescribesItself) {
  for (const std::string& name : task_names()) {
    SCOPED_TRACE(name);
    const auto task = any_task(name);
    const TaskDescription& description = task->description();
    EXPECT_FALSE(description.title.empty());
    EXPECT_FALSE(description.measures.empty());
    EXPECT_GE(description.vocabulary, 2);
    const bool loss = description.metric == Metric::loss;
    const auto worse = [&](double one, double other) { return loss ? one >= other : one <= other; };
    EXPECT_TRUE(worse(description.chance, description.majority));
    EXPECT_TRUE(worse(description.majority, description.learned_at));
    EXPECT_NE(description.majority, description.learned_at);
    EXPECT_TRUE(worse(description.learned_at, loss ? 0 : 1));
    Random random(1);
    bool main_is_there = false;
    for (const TestSet& set : task->tests(random, 2, 80)) {
      if (set.name == description.main) {
        main_is_there = true;
        EXPECT_EQ(set.metric, description.metric);
      }
    }
    EXPECT_TRUE(main_is_there);
  }
}

TEST(EveryTask, MakesValidBatchesOfAnyShape) {
  for (const std::string& name : task_names()) {
    SCOPED_TRACE(name);
    const auto task = any_task(name);
    Random random(3);
    for (const std::int64_t rows : {1, 7}) {
      for (const std::int64_t length : {12, 64, 512}) {
        expect_sound(task->training(random, rows, length), task->description(), rows, length);
        for (const TestSet& set : task->tests(random, rows, length)) {
          // The agreement of `verbs` uses more rows if they are short.
          EXPECT_GE(set.batch.rows, rows);
          if (set.name != "agreement") {
            EXPECT_EQ(set.batch.rows, rows);
          }
          expect_sound(set.batch, task->description(), set.batch.rows, length);
        }
      }
    }
  }
}

TEST(EveryTask, DependsOnTheRandomSourceAlone) {
  for (const std::string& name : task_names()) {
    SCOPED_TRACE(name);
    const auto task = any_task(name);
    const auto again = any_task(name);
    Random random(5);
    Random same(5);
    Random other(6);
    const Batch batch = task->training(random, 4, 64);
    expect_equal(batch, again->training(same, 4, 64));
    EXPECT_NE(batch.tokens, task->training(other, 4, 64).tokens);
    EXPECT_NE(batch.tokens, task->training(random, 4, 64).tokens) << "the source has moved on";
    same = Random(7);
    random = Random(7);
    const std::vector<TestSet> sets = task->tests(random, 4, 64);
    const std::vector<TestSet> same_sets = again->tests(same, 4, 64);
    ASSERT_EQ(sets.size(), same_sets.size());
    for (std::size_t i = 0; i < sets.size(); ++i) expect_equal(sets[i].batch, same_sets[i].batch);
  }
}

TEST(EveryTask, RefusesNoRowsAndTooShortLengths) {
  const std::vector<std::pair<std::string, std::int64_t>> shortest = {{"verbs", 1}, {"passkey", 7}, {"back", 6},
                                                                      {"first", 2}, {"order", 2},   {"text", 1}};
  for (const auto& entry : shortest) {
    SCOPED_TRACE(entry.first);
    const auto task = any_task(entry.first);
    Random random(1);
    EXPECT_EQ(error_of([&] { task->training(random, 0, 64); }),
              "the task " + entry.first + " needs at least 1 row, got 0");
    EXPECT_EQ(error_of([&] { task->tests(random, -1, 64); }),
              "the task " + entry.first + " needs at least 1 row, got -1");
    const std::string too_short = "the task " + entry.first + " needs a length of at least " +
                                  std::to_string(entry.second) + ", got " + std::to_string(entry.second - 1);
    EXPECT_EQ(error_of([&] { task->training(random, 1, entry.second - 1); }), too_short);
    EXPECT_EQ(error_of([&] { task->tests(random, 1, entry.second - 1); }), too_short);
    expect_sound(task->training(random, 3, entry.second), task->description(), 3, entry.second);
    EXPECT_FALSE(task->tests(random, 3, entry.second).empty());
  }
}

}  // namespace
}  // namespace locus::lab
