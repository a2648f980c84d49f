// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "locus/error.h"
#include "support/error_of.h"
#include "task.h"

namespace locus::lab {
namespace {

std::string write(const std::string& name, const std::string& content) {
  const std::string path = ::testing::TempDir() + "lab_tasks_" + std::to_string(getpid()) + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string refusal(const std::string& file, std::int64_t length = 1) {
  return testing::error_of([&] {
    Random random(1);
    make_task("text", file)->tests(random, 1, length);
  });
}

std::string piece(const Batch& batch, std::int64_t row) {
  std::string text;
  for (std::int64_t i = 0; i < batch.length; ++i) {
    text += static_cast<char>(batch.tokens[static_cast<std::size_t>(row * batch.length + i)]);
  }
  return text;
}

// 300 numbered words of six bytes: every piece shows its origin.
std::string numbered() {
  std::string text;
  for (int i = 0; i < 300; ++i) text += std::to_string(10000 + i) + " ";
  return text;
}

TEST(Text, TakesPiecesFromDisjointParts) {
  const std::string text = numbered();  // 1800 bytes: 1620 to train on, 180 to test with
  const auto task = make_task("text", write("numbered.txt", text));
  Random random(1);
  const Batch training = task->training(random, 500, 60);
  const Batch testing = task->tests(random, 500, 60).front().batch;
  std::size_t last_trained = 0;
  std::size_t first_tested = text.size();
  for (std::int64_t row = 0; row < 500; ++row) {
    const std::size_t trained = text.find(piece(training, row));
    ASSERT_NE(trained, std::string::npos);
    last_trained = std::max(last_trained, trained + 60);  // the byte after the piece is a target
    const std::size_t tested = text.find(piece(testing, row));
    ASSERT_NE(tested, std::string::npos);
    first_tested = std::min(first_tested, tested);
    ASSERT_LT(tested + 60, text.size());
    for (std::size_t i = 0; i < 60; ++i) {
      const std::size_t at = static_cast<std::size_t>(row) * 60 + i;
      ASSERT_EQ(training.targets[at], text[trained + i + 1]);
      ASSERT_EQ(testing.targets[at], text[tested + i + 1]);
    }
  }
  EXPECT_LT(last_trained, 1620u);
  EXPECT_GE(first_tested, 1620u);
}

TEST(Text, EveryByteIsItsOwnToken) {
  std::string bytes;
  for (int i = 0; i < 2560; ++i) bytes += static_cast<char>(i % 256);
  const auto task = make_task("text", write("bytes.bin", bytes));
  Random random(1);
  const Batch batch = task->tests(random, 20, 255).front().batch;
  for (std::size_t i = 0; i < batch.tokens.size(); ++i) ASSERT_EQ(batch.targets[i], (batch.tokens[i] + 1) % 256);
  EXPECT_EQ(task->description().vocabulary, 256);
  EXPECT_DOUBLE_EQ(task->description().chance, std::log(256.0));
}

// 200 bytes, the last 20 of them "aaabaaabaaabaaabaaab": 15 a and 5 b.
TEST(Text, CountsItsBaselines) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "aaab";
  const auto task = make_task("text", write("pairs.txt", text));
  const double majority = -(0.75 * std::log(0.75) + 0.25 * std::log(0.25));
  EXPECT_NEAR(task->description().majority, majority, 1e-12);
  // In the first 180 bytes: 45 b, of which 44 are followed by a; 135 a, 90 followed by a and 45 by b. Each of the 256
  // pairs of a first byte is counted once more: P(a|a) = 91/391, P(b|a) = 46/391, P(a|b) = 45/300. In the last 20: 10
  // times aa, 5 times ab, 4 times ba.
  const double pairs = -(10 * std::log(91.0 / 391) + 5 * std::log(46.0 / 391) + 4 * std::log(45.0 / 300)) / 19;
  EXPECT_NEAR(task->description().learned_at, std::min(majority, pairs), 1e-12);
  ASSERT_LT(majority, pairs) << "so short a text says too little about pairs";
}

TEST(Text, PairsSetTheBarInALongerText) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "aaab";
  const auto task = make_task("text", write("long_pairs.txt", text));
  // As above with 18000 bytes to count in (13500 a: 9000 aa, 4500 ab; 4499 ba) and 2000 to test (1000, 500, 499).
  const double pairs =
      -(1000 * std::log(9001.0 / 13756) + 500 * std::log(4501.0 / 13756) + 499 * std::log(4500.0 / 4755)) / 1999;
  EXPECT_NEAR(task->description().learned_at, pairs, 1e-12);
}

TEST(Text, RefusesAnUnusableText) {
  EXPECT_EQ(refusal(""), "the task text needs a file (--text FILE)");
  const std::string missing = ::testing::TempDir() + "lab_tasks_missing.txt";
  EXPECT_EQ(refusal(missing).find(missing + ": cannot open"), 0u) << refusal(missing);
  EXPECT_NE(refusal(::testing::TempDir()).find("directory"), std::string::npos) << refusal(::testing::TempDir());
  const std::string empty = write("empty.txt", "");
  EXPECT_EQ(refusal(empty), "the text file '" + empty + "' is empty");
  const std::string tiny = write("tiny.txt", "nineteen bytes long");
  EXPECT_EQ(refusal(tiny), "the text file '" + tiny + "' must have at least 20 bytes, got 19");
  const std::string small = write("small.txt", std::string(200, 'x') + "y");
  EXPECT_EQ(refusal(small, 20), "the text file '" + small +
                                    "' is too short for a length of 20: its last tenth must have more than 20 bytes, "
                                    "got 20");
  EXPECT_EQ(refusal(small, 19), "no error");
}

}  // namespace
}  // namespace locus::lab
