// SPDX-License-Identifier: Apache-2.0
// Means, intervals and leading lines, worked out by hand.
#include "results/standings.h"

#include <gtest/gtest.h>

#include "results/made_results.h"

namespace locus::results {
namespace {

TEST(Standings, AnIntervalIsShownWithinWhatTheNumberCanBe) {
  Task share, loss;
  loss.is_loss = true;
  const Estimate wide{.mean = 0.9, .low = -0.5, .high = 2.3, .seeds = 2},
      narrow{.mean = 0.9, .low = 0.8, .high = 1, .seeds = 2};
  EXPECT_EQ(*shown(share, wide).low, 0);
  EXPECT_EQ(*shown(share, wide).high, 1);
  EXPECT_EQ(shown(share, wide).mean, 0.9);
  EXPECT_EQ(*shown(loss, wide).low, 0);
  EXPECT_EQ(*shown(loss, wide).high, 2.3);
  EXPECT_TRUE(is_cut(share, wide));
  EXPECT_TRUE(is_cut(loss, wide));
  EXPECT_EQ(*shown(share, narrow).high, 1);
  EXPECT_FALSE(is_cut(share, narrow));
  EXPECT_FALSE(is_cut(share, {.mean = 0.9, .low = {}, .high = {}, .seeds = 1}));
}

std::vector<std::string> names(const Results& results) {
  std::vector<std::string> all;
  for (const Line& line : results.lines) all.push_back(line.name);
  return all;
}

std::vector<Standing> beyond(const Results& results) {
  return standings(results, results.tasks[0], Range::beyond, names(results));
}

// b is always 0.1 below a, so the interval of the difference is that point; c varies around a.
TEST(Standings, DifferencesArePairedOverSeeds) {
  Results results;
  add_task(results, "t", true,
           {{"a", {1, 1, 1}, {0.9, 0.5, 0.7}}, {"b", {1, 1, 1}, {0.8, 0.4, 0.6}}, {"c", {1, 1, 1}, {0.5, 0.6, 0.9}}});
  const std::vector<Standing> all = beyond(results);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].line, "a");
  EXPECT_TRUE(all[0].leads);
  EXPECT_EQ(all[1].line, "c");  // mean 2/3
  EXPECT_TRUE(all[1].leads);    // differences -0.4, 0.1, 0.2
  EXPECT_EQ(all[2].line, "b");
  EXPECT_NEAR(all[2].difference->mean, -0.1, 1e-15);
  EXPECT_FALSE(all[2].leads);
  EXPECT_TRUE(can_tell(all));
}

TEST(Standings, LowerIsBetterForALossAndEqualNumbersLeadTogether) {
  Results results;
  add_task(results, "t", false, {{"a", {1, 1}, {3, 3}}, {"b", {1, 1}, {2, 2}}, {"c", {1, 1}, {2, 2}}});
  const std::vector<Standing> all = beyond(results);
  EXPECT_EQ(all[0].line, "b");
  EXPECT_TRUE(all[1].leads);
  EXPECT_FALSE(all[2].leads);
}

TEST(Standings, UnlearnedOrUnmeasuredLinesHaveNoStanding) {
  Results results;
  add_task(results, "t", true,
           {{"a", {1, 1}, {0.1, 0.2}, false}, {"b", {1, 1}, {std::nullopt, std::nullopt}}, {"c", {1, 1}, {0, 0}}});
  const std::vector<Standing> all = beyond(results);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].line, "c");
  EXPECT_FALSE(can_tell(all));
}

// Seed 2 of b is missing, so the two are compared on seeds 1 and 3, where b is 0.2 behind.
TEST(Standings, MissingSeedsAreLeftOutOfPairs) {
  Results results;
  add_task(results, "t", true, {{"a", {1, 1, 1}, {0.5, 1.0, 0.6}}, {"b", {1, 1, 1}, {0.3, std::nullopt, 0.4}}});
  const std::vector<Standing> all = beyond(results);
  EXPECT_EQ(all[1].line, "b");
  EXPECT_EQ(all[1].difference->seeds, 2u);
  EXPECT_NEAR(all[1].difference->mean, -0.2, 1e-15);
}

TEST(Standings, OneSeedCanTellNothing) {
  Results results;
  add_task(results, "t", true, {{"a", {1}, {0.9}}, {"b", {1}, {0.1}}});
  const std::vector<Standing> all = beyond(results);
  EXPECT_TRUE(all[0].leads);
  EXPECT_FALSE(all[1].leads);
  EXPECT_FALSE(can_tell(all));
}

// Two lengths beyond: each seed's number is their mean.
TEST(Standings, LengthsAreAveragedSeedBySeed) {
  Results results;
  add_task(results, "t", true, {{"a", {1, 1}, {0.8, 0.6}}});
  results.tasks[0].lengths = {8, 16, 32};
  Number longer = results.numbers.back();
  longer.length = 32;
  longer.values = {0.4, 0.0};
  longer.estimate = estimate(longer.values);
  results.numbers.push_back(longer);
  const std::vector<Standing> all = beyond(results);
  EXPECT_NEAR(all[0].score.mean, 0.45, 1e-15);  // 0.6 and 0.3
  results.numbers.pop_back();
  EXPECT_TRUE(beyond(results).empty());  // a length is missing
}

}  // namespace
}  // namespace locus::results
