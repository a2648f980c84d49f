// SPDX-License-Identifier: Apache-2.0
// The rules of the ranking on small numbers, worked out by hand.
#include "results/ranking.h"

#include <gtest/gtest.h>

#include "results/json.h"
#include "results/made_results.h"
#include "results/outcomes.h"

namespace locus::results {
namespace {

// Shares of the best: in `one` 1, 0.5 and 0.6 (from 0 to 0.8), in `two` 1, 1 and 0.5 (from 4 to 2).
Results two_tasks() {
  Results results;
  add_task(results, "one", true, {{"a", {1, 1}, {0.8, 0.8}}, {"b", {1, 1}, {0.4, 0.4}}, {"c", {1, 1}, {0.48, 0.48}}});
  add_task(results, "two", false, {{"a", {1, 1}, {2, 2}}, {"b", {1, 1}, {2, 2}}, {"c", {1, 1}, {3, 3}}});
  return results;
}

TEST(Ranking, OrdersByTheMeanShareOfTheBest) {
  const Results results = two_tasks();
  const Ranking ranking = ranking_of(results);
  EXPECT_TRUE(ranking.can_tell);
  EXPECT_EQ(ranking.scored, 2u);
  EXPECT_EQ(ranking.defaults, std::vector<std::string>{"a"});
  ASSERT_EQ(ranking.lines.size(), 3u);
  EXPECT_EQ(ranking.lines[0].gain.score.mean, 1);
  EXPECT_EQ(ranking.lines[0].worst_gain, 1);
  EXPECT_EQ(ranking.lines[0].leads_beyond, 2u);
  EXPECT_EQ(ranking.lines[1].gain.line, "b");
  EXPECT_DOUBLE_EQ(ranking.lines[1].gain.score.mean, 0.75);
  EXPECT_DOUBLE_EQ(ranking.lines[1].worst_gain, 0.5);
  EXPECT_EQ(ranking.lines[1].worst, &results.tasks[0]);
  EXPECT_EQ(ranking.lines[1].leads_beyond, 1u);
  EXPECT_EQ(ranking.lines[2].gain.line, "c");
  EXPECT_DOUBLE_EQ(ranking.lines[2].gain.score.mean, 0.55);
  EXPECT_EQ(ranking.lines[2].worst, &results.tasks[1]);
}

// `risky` is the best of two tasks and no better than guessing in the third: (1 + 1 + 0) / 3. `steady`, the best of one
// and at 0.9 of the best in the others: (0.9 + 0.9 + 1) / 3.
TEST(Ranking, TheMostLeadsDoNotCompensateForALostTask) {
  Results results;
  for (const char* task : {"one", "two"}) {
    add_task(results, task, true, {{"risky", {1, 1}, {1, 1}}, {"steady", {1, 1}, {0.9, 0.9}}});
  }
  add_task(results, "three", true, {{"risky", {1, 1}, {0, 0}}, {"steady", {1, 1}, {0.5, 0.5}}});
  const Ranking ranking = ranking_of(results);
  EXPECT_EQ(ranking.defaults, std::vector<std::string>{"steady"});
  EXPECT_DOUBLE_EQ(ranking.lines[0].gain.score.mean, 2.8 / 3);
  EXPECT_DOUBLE_EQ(ranking.lines[1].gain.score.mean, 2.0 / 3);
  EXPECT_EQ(ranking.lines[1].leads_beyond, 2u);
  EXPECT_EQ(ranking.lines[1].worst->name, "three");
}

// The level is 0.5: a score of 1 is the best, 0.75 has half the gain, 0.4 none; a line that did not learn has none at
// any score.
TEST(Ranking, TheBestAnswerThatIgnoresTheInputIsNothing) {
  Results results;
  add_task(
      results, "one", true,
      {{"a", {1, 1}, {1, 1}}, {"b", {1, 1}, {0.75, 0.75}}, {"c", {1, 1}, {0.4, 0.4}}, {"d", {0, 0}, {1, 1}, false}});
  results.tasks[0].majority = 0.5;
  const Ranking ranking = ranking_of(results);
  ASSERT_EQ(ranking.lines.size(), 4u);
  EXPECT_EQ(ranking.lines[1].gain.line, "b");
  EXPECT_DOUBLE_EQ(ranking.lines[1].gain.score.mean, 0.5);
  EXPECT_EQ(ranking.lines[2].gain.score.mean, 0);
  EXPECT_EQ(ranking.lines[3].gain.score.mean, 0);
}

// b was not tested in `two` and has no gain there; in `three` no line is better than guessing, so it does not count.
TEST(Ranking, TasksWithoutAGainAreLeftOutAndMissingOnesAreNot) {
  Results results;
  add_task(results, "one", true, {{"a", {1, 1}, {0.5, 0.5}}, {"b", {1, 1}, {1, 1}}});
  add_task(results, "two", true, {{"a", {1, 1}, {1, 1}}});
  add_task(results, "three", false, {{"a", {1, 1}, {5, 5}}, {"b", {1, 1}, {4.5, 4.5}}});
  const Ranking ranking = ranking_of(results);
  EXPECT_EQ(ranking.scored, 2u);
  EXPECT_EQ(ranking.lines[0].gain.line, "a");
  EXPECT_DOUBLE_EQ(ranking.lines[0].gain.score.mean, 0.75);
  EXPECT_DOUBLE_EQ(ranking.lines[1].gain.score.mean, 0.5);
  EXPECT_EQ(ranking.lines[1].worst->name, "two");
}

// Shares of a: 1.25 and 0.75 of its mean 0.8; of b: 0.75 and 1.125. Differences from a: -0.5 and 0.375, whose interval
// holds 0. c is 0.25 behind a with every seed.
TEST(Ranking, LinesThatSeedsCannotDistinguishFromTheFirstLeadToo) {
  Results results;
  add_task(results, "one", true, {{"a", {1, 1}, {1, 0.6}}, {"b", {1, 1}, {0.6, 0.9}}, {"c", {1, 1}, {0.8, 0.4}}});
  const Ranking ranking = ranking_of(results);
  EXPECT_EQ(ranking.defaults, (std::vector<std::string>{"a", "b"}));
  EXPECT_DOUBLE_EQ(ranking.lines[0].gain.score.mean, 1);
  EXPECT_DOUBLE_EQ(ranking.lines[1].gain.score.mean, 0.9375);
  EXPECT_DOUBLE_EQ(ranking.lines[1].gain.difference->mean, -0.0625);
  EXPECT_DOUBLE_EQ(ranking.lines[2].gain.difference->mean, -0.25);
}

TEST(Ranking, OneSeedNamesNoDefault) {
  Results results;
  add_task(results, "one", true, {{"a", {1}, {1}}, {"b", {1}, {0}}});
  const Ranking ranking = ranking_of(results);
  EXPECT_FALSE(ranking.can_tell);
  EXPECT_TRUE(ranking.defaults.empty());
  EXPECT_EQ(ranking.lines.front().gain.line, "a");
}

TEST(Ranking, NothingLearnedHasNoDefault) {
  Results results;
  add_task(results, "one", true, {{"a", {0, 0}, {0, 0}, false}, {"b", {0, 0}, {1, 1}, false}});
  const Ranking ranking = ranking_of(results);
  EXPECT_TRUE(ranking.defaults.empty());
  EXPECT_EQ(ranking.tasks[0].not_learned, (std::vector<std::string>{"a", "b"}));
}

// A stretched line competes beyond the trained length, a tuned one only among tuned lines; within the trained length
// only trained schemes compete.
TEST(Ranking, LinesCompeteInTheirOwnRange) {
  Results results;
  add_task(results, "one", true,
           {{"a", {1, 1}, {0.5, 0.5}},
            {"a+stretched", {0.2, 0.2}, {0.7, 0.7}, true, "a"},
            {"a+tuned", {1, 1}, {0.9, 0.9}, true, "a", true}});
  const Ranking ranking = ranking_of(results);
  EXPECT_EQ(ranking.defaults, std::vector<std::string>{"a+stretched"});
  EXPECT_EQ(ranking.lines.size(), 2u);
  EXPECT_EQ(ranking.tasks[0].in_range.size(), 1u);
  EXPECT_EQ(ranking.tasks[0].beyond.size(), 2u);
  ASSERT_EQ(ranking.tasks[0].after_tuning.size(), 3u);
  EXPECT_EQ(ranking.tasks[0].after_tuning[0].line, "a+tuned");
  results.outcomes.pop_back();  // without the outcome of the tuned line nothing was tuned
  EXPECT_TRUE(ranking_of(results).tasks[0].after_tuning.empty());
}

TEST(Ranking, ALineWhoseSeedsAllMissATaskIsRankedWithoutAnInterval) {
  Results results;
  add_task(results, "one", true, {{"a", {1, 1}, {0.4, {}}}, {"b", {1, 1}, {0.8, 0.8}}});
  add_task(results, "two", true, {{"a", {1, 1}, {{}, 0.8}}, {"b", {1, 1}, {0.8, 0.8}}});
  const Ranking ranking = ranking_of(results);
  ASSERT_EQ(ranking.lines.size(), 2u);
  EXPECT_EQ(ranking.lines[1].gain.line, "a");
  EXPECT_DOUBLE_EQ(ranking.lines[1].gain.score.mean, 0.75);
  EXPECT_FALSE(ranking.lines[1].gain.score.low);
  EXPECT_TRUE(ranking.defaults.empty());  // no line has two seeds to compare
}

// `specialist` is first in two of three tasks, `allrounder` has the largest mean gain. The ranking orders by mean
// gain, and the ranks of each task are its standings.
TEST(Ranking, RanksOfTasksAgreeWithTheRanking) {
  Results results;
  for (const char* task : {"one", "two"}) {
    add_task(results, task, true, {{"specialist", {1, 1}, {1, 1}}, {"allrounder", {1, 1}, {0.9, 0.9}}});
  }
  add_task(results, "three", true, {{"specialist", {1, 1}, {0, 0}}, {"allrounder", {1, 1}, {1, 1}}});
  for (Task& task : results.tasks) task.learned_at = 0.5;
  fill_outcomes(results);
  const Ranking ranking = ranking_of(results);
  EXPECT_EQ(ranking.lines[0].gain.line, "allrounder");
  for (const TaskRanking& task : ranking.tasks) {
    for (const Standing& standing : task.all()) {
      EXPECT_EQ(results.outcome(task.task->name, standing.line)->rank, standing.rank);
    }
  }
  const Json json = to_json(results);
  EXPECT_EQ(json["ranking"][0]["line"], "allrounder");
  EXPECT_EQ(json["ranking"][0]["rank"], 1);
  EXPECT_DOUBLE_EQ(json["ranking"][0]["gain"], 2.8 / 3);
  EXPECT_EQ(json["ranking"][1]["line"], "specialist");
}

// Tested only at the trained length: the ranking uses that length.
TEST(Ranking, WithoutALongerLengthTheTrainedOneRanks) {
  Results results;
  add_task(results, "one", true, {{"a", {0.6, 0.6}, {1, 1}}, {"b", {0.8, 0.8}, {0, 0}}});
  results.tasks[0].lengths = {8};
  results.tasks[0].learned_at = 0.5;
  fill_outcomes(results);
  const Ranking ranking = ranking_of(results);
  EXPECT_EQ(ranking.lines[0].gain.line, "b");
  EXPECT_DOUBLE_EQ(ranking.lines[1].gain.score.mean, 0.75);
  EXPECT_EQ(results.outcome("one", "b")->rank, 1);
  EXPECT_EQ(results.outcome("one", "a")->rank, 2);
  EXPECT_FALSE(results.outcome("one", "a")->beyond);
}

TEST(Ranking, EqualsShareARank) {
  Results results;
  add_task(results, "one", true,
           {{"a", {1, 1}, {0.5, 0.5}}, {"b", {1, 1}, {0.5, 0.5}}, {"c", {1, 1}, {1, 1}}, {"d", {1, 1}, {0.1, 0.1}}});
  const Ranking ranking = ranking_of(results);
  std::vector<std::int64_t> ranks, places;
  for (const RankedLine& line : ranking.lines) ranks.push_back(line.gain.rank);
  for (const Standing& standing : ranking.tasks[0].beyond) places.push_back(standing.rank);
  EXPECT_EQ(ranks, (std::vector<std::int64_t>{1, 2, 2, 4}));
  EXPECT_EQ(places, ranks);
}

// Seed 2 has no number in `two` yet: a line that did not learn `two` has no gain of 0 there either, so both lines are
// compared on seed 1.
TEST(Ranking, ASeedThatATaskLacksCountsForNoLine) {
  Results results;
  add_task(results, "one", true, {{"a", {1, 1}, {1, 1}}, {"b", {1, 1}, {0.5, 0.9}}});
  add_task(results, "two", true, {{"a", {1, {}}, {1, {}}}, {"b", {0, {}}, {0, {}}, false}});
  const Ranking ranking = ranking_of(results);
  EXPECT_EQ(ranking.lines[0].gain.score.seeds, 1u);
  EXPECT_EQ(ranking.lines[1].gain.score.seeds, 1u);
  EXPECT_DOUBLE_EQ(ranking.lines[1].gain.score.mean, 0.25);
}

}  // namespace
}  // namespace locus::results
