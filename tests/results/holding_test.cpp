// SPDX-License-Identifier: Apache-2.0
// What holds beyond the trained length, in results made up so that every share is known. In a loss the level is 4: a line
// that goes from 1 to 1.3 keeps (1.3 - 4) / (1 - 4) = 0.9 of what it learned.
#include "results/holding.h"

#include <gtest/gtest.h>

#include <limits>

#include "results/made_results.h"

namespace locus::results {
namespace {

using Names = std::vector<std::string>;

LengthAnswer answer_of(const Results& results) { return length_answer(results, results.tasks.front()); }

TEST(Holding, GroupsSchemesByTheShareTheyKeep) {
  Results results;
  add_task(results, "text", false,
           {{"flat", {1, 1}, {1.1, 1.1}},  // keeps 0.967
            {"half", {1, 1}, {2, 2}},      // 0.667
            {"lost", {1, 1}, {3, 3}},      // 0.333
            {"worse", {1, 1}, {5, 5}},     // less than nothing
            {"unsure", {1, 1}, {1, 1.6}},  // 1 and 0.8: the interval contains both bars
            {"unlearned", {3.9, 3.9}, {3.9, 3.9}, false}});
  const LengthAnswer answer = answer_of(results);
  EXPECT_EQ(answer.hold, Names{"flat"});
  EXPECT_EQ(answer.lose_part, Names{"half"});
  EXPECT_EQ(answer.fail, (Names{"lost", "worse"}));
  EXPECT_EQ(answer.open, Names{"unsure"});
  EXPECT_EQ(answer.not_learned, Names{"unlearned"});
  EXPECT_TRUE(answer.remedied.empty());
  EXPECT_EQ(answer.judged(), 5u);
  EXPECT_EQ(answer.seeds, 2u);
  EXPECT_NEAR(answer.lines[0].kept->mean, 2.9 / 3, 1e-12);
}

TEST(Holding, BarsBelongToTheUpperGroup) {
  Results results;
  add_task(results, "share", true,
           {{"bar", {1, 1}, {0.9, 0.9}}, {"lower", {1, 1}, {0.5, 0.5}}, {"below", {1, 1}, {0.499, 0.499}}});
  const LengthAnswer answer = answer_of(results);
  EXPECT_EQ(answer.hold, Names{"bar"});
  EXPECT_EQ(answer.lose_part, Names{"lower"});
  EXPECT_EQ(answer.fail, Names{"below"});
}

TEST(Holding, EqualSchemesShareAGroup) {
  Results results;
  add_task(results, "share", true, {{"b", {1, 1}, {1, 1}}, {"a", {1, 1}, {1, 1}}});
  EXPECT_EQ(answer_of(results).hold, (Names{"b", "a"}));  // in the order of the results
}

TEST(Holding, FindsWhatHelpsAScheme) {
  Results results;
  add_task(results, "text", false,
           {{"rope", {1, 1}, {3, 3}},
            {"rope+yarn", {1, 1}, {1.1, 1.1}, true, "rope"},
            {"rope+linear", {1, 1}, {3, 3}, true, "rope"},
            {"rope+tuned", {1.2, 1.2}, {1.1, 1.1}, true, "rope", true},  // against what the scheme learned, not its own
            {"unsure", {1, 1}, {1, 1.6}},
            {"unsure+tuned", {1, 1}, {1, 1}, true, "unsure", true}});
  const LengthAnswer answer = answer_of(results);
  ASSERT_EQ(answer.remedied.size(), 2u);
  EXPECT_EQ(answer.remedied[0].scheme, "rope");
  EXPECT_EQ(answer.remedied[0].stretched, Names{"rope+yarn"});
  EXPECT_EQ(answer.remedied[0].tuned, Names{"rope+tuned"});
  EXPECT_FALSE(answer.remedied[0].is_open);
  EXPECT_TRUE(answer.remedied[1].is_open);
  EXPECT_TRUE(answer.fail.empty() && answer.open.empty());
}

TEST(Holding, OneSeedDecidesByItsNumber) {
  Results results;
  add_task(results, "share", true, {{"a", {1}, {0.95}}, {"b", {1}, {0.1}}});
  const LengthAnswer answer = answer_of(results);
  EXPECT_EQ(answer.hold, Names{"a"});
  EXPECT_EQ(answer.fail, Names{"b"});
  EXPECT_EQ(answer.seeds, 1u);
}

TEST(Holding, WhatIsNotFiniteFails) {
  Results results;
  const double infinity = std::numeric_limits<double>::infinity();
  add_task(results, "text", false, {{"a", {1, 1}, {1, infinity}}});
  EXPECT_EQ(answer_of(results).fail, Names{"a"});
}

TEST(Holding, SaysNothingWhereNothingWasLearned) {
  Results results;
  add_task(results, "share", true, {{"a", {0.1, 0.1}, {0.1, 0.1}, false}});
  EXPECT_EQ(answer_of(results).judged(), 0u);
  EXPECT_EQ(answer_of(results).not_learned, Names{"a"});
}

TEST(OpeningTask, IsTheFirstLossTestedBeyond) {
  Results results;
  EXPECT_EQ(opening_task(results), nullptr);
  add_task(results, "short", false, {{"a", {1, 1}, {1, 1}}});
  results.tasks[0].lengths = {8};
  EXPECT_EQ(opening_task(results), nullptr);
  add_task(results, "share", true, {{"a", {1, 1}, {1, 1}}});
  EXPECT_EQ(opening_task(results)->name, "share");
  add_task(results, "text", false, {{"a", {1, 1}, {1, 1}}});
  EXPECT_EQ(opening_task(results)->name, "text");
}

}  // namespace
}  // namespace locus::results
