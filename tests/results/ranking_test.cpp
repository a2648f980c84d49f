// SPDX-License-Identifier: Apache-2.0
// The rules of the answer on numbers small enough to work by hand.
#include "figures/report/answer.h"

#include <gtest/gtest.h>

#include "figures/made_results.h"
#include "figures/report/results_figures.h"

namespace locus::figures {
namespace {

// Shares of the best: in `one` 1, 0.5 and 0.6 (from 0 to 0.8), in `two` 1, 1 and 0.5 (from 4 to 2).
Results two_tasks() {
  Results results;
  add_task(results, "one", true, {{"a", {1, 1}, {0.8, 0.8}}, {"b", {1, 1}, {0.4, 0.4}}, {"c", {1, 1}, {0.48, 0.48}}});
  add_task(results, "two", false, {{"a", {1, 1}, {2, 2}}, {"b", {1, 1}, {2, 2}}, {"c", {1, 1}, {3, 3}}});
  return results;
}

TEST(Answer, orders_by_the_mean_share_of_the_best) {
  const Results results = two_tasks();
  const Answer answer = answer_of(results);
  EXPECT_TRUE(answer.can_tell);
  EXPECT_EQ(answer.scored, 2u);
  EXPECT_EQ(answer.defaults, std::vector<std::string>{"a"});
  ASSERT_EQ(answer.rows.size(), 3u);
  EXPECT_EQ(answer.rows[0].share.mean.value, 1);
  EXPECT_EQ(answer.rows[0].worst_share, 1);
  EXPECT_EQ(answer.rows[0].leads_beyond, 2u);
  EXPECT_EQ(answer.rows[1].share.line, "b");
  EXPECT_DOUBLE_EQ(answer.rows[1].share.mean.value, 0.75);
  EXPECT_DOUBLE_EQ(answer.rows[1].worst_share, 0.5);
  EXPECT_EQ(answer.rows[1].worst, &results.tasks[0]);
  EXPECT_EQ(answer.rows[1].leads_beyond, 1u);
  EXPECT_EQ(answer.rows[2].share.line, "c");
  EXPECT_DOUBLE_EQ(answer.rows[2].share.mean.value, 0.55);
  EXPECT_EQ(answer.rows[2].worst, &results.tasks[1]);
}

// `risky` is the best of two tasks and no better than guessing in the third: (1 + 1 + 0) / 3. `steady`, the best of one
// and at 0.9 of the best in the others: (0.9 + 0.9 + 1) / 3.
TEST(Answer, the_most_leads_do_not_make_up_for_a_task_lost) {
  Results results;
  for (const char* task : {"one", "two"}) {
    add_task(results, task, true, {{"risky", {1, 1}, {1, 1}}, {"steady", {1, 1}, {0.9, 0.9}}});
  }
  add_task(results, "three", true, {{"risky", {1, 1}, {0, 0}}, {"steady", {1, 1}, {0.5, 0.5}}});
  const Answer answer = answer_of(results);
  EXPECT_EQ(answer.defaults, std::vector<std::string>{"steady"});
  EXPECT_DOUBLE_EQ(answer.rows[0].share.mean.value, 2.8 / 3);
  EXPECT_DOUBLE_EQ(answer.rows[1].share.mean.value, 2.0 / 3);
  EXPECT_EQ(answer.rows[1].leads_beyond, 2u);
  EXPECT_EQ(answer.rows[1].worst->name, "three");
}

// From 0.5 on: 1 is the best, 0.75 half of it, 0.4 nothing; what was not learned is nothing however it scored.
TEST(Answer, the_best_answer_that_ignores_the_input_is_nothing) {
  Results results;
  add_task(
      results, "one", true,
      {{"a", {1, 1}, {1, 1}}, {"b", {1, 1}, {0.75, 0.75}}, {"c", {1, 1}, {0.4, 0.4}}, {"d", {0, 0}, {1, 1}, false}});
  results.tasks[0].majority = 0.5;
  const Answer answer = answer_of(results);
  ASSERT_EQ(answer.rows.size(), 4u);
  EXPECT_EQ(answer.rows[1].share.line, "b");
  EXPECT_DOUBLE_EQ(answer.rows[1].share.mean.value, 0.5);
  EXPECT_EQ(answer.rows[2].share.mean.value, 0);
  EXPECT_EQ(answer.rows[3].share.mean.value, 0);
}

// b was not tested in `two` and has nothing of it; in `three` nothing is better than guessing, so it does not count.
TEST(Answer, tasks_without_a_gain_are_left_out_and_missing_ones_are_not) {
  Results results;
  add_task(results, "one", true, {{"a", {1, 1}, {0.5, 0.5}}, {"b", {1, 1}, {1, 1}}});
  add_task(results, "two", true, {{"a", {1, 1}, {1, 1}}});
  add_task(results, "three", false, {{"a", {1, 1}, {5, 5}}, {"b", {1, 1}, {4.5, 4.5}}});
  const Answer answer = answer_of(results);
  EXPECT_EQ(answer.scored, 2u);
  EXPECT_EQ(answer.rows[0].share.line, "a");
  EXPECT_DOUBLE_EQ(answer.rows[0].share.mean.value, 0.75);
  EXPECT_DOUBLE_EQ(answer.rows[1].share.mean.value, 0.5);
  EXPECT_EQ(answer.rows[1].worst->name, "two");
}

// Shares of a: 1.25 and 0.75 of its mean 0.8; of b: 0.75 and 1.125. Differences from a: -0.5 and 0.375, whose interval
// holds 0. c is 0.25 behind a with every seed.
TEST(Answer, what_the_seeds_cannot_tell_from_the_first_is_a_default_too) {
  Results results;
  add_task(results, "one", true, {{"a", {1, 1}, {1, 0.6}}, {"b", {1, 1}, {0.6, 0.9}}, {"c", {1, 1}, {0.8, 0.4}}});
  const Answer answer = answer_of(results);
  EXPECT_EQ(answer.defaults, (std::vector<std::string>{"a", "b"}));
  EXPECT_DOUBLE_EQ(answer.rows[0].share.mean.value, 1);
  EXPECT_DOUBLE_EQ(answer.rows[1].share.mean.value, 0.9375);
  EXPECT_DOUBLE_EQ(answer.rows[1].share.difference->value, -0.0625);
  EXPECT_DOUBLE_EQ(answer.rows[2].share.difference->value, -0.25);
}

TEST(Answer, one_seed_names_no_default) {
  Results results;
  add_task(results, "one", true, {{"a", {1}, {1}}, {"b", {1}, {0}}});
  const Answer answer = answer_of(results);
  EXPECT_FALSE(answer.can_tell);
  EXPECT_TRUE(answer.defaults.empty());
  EXPECT_EQ(answer.rows.front().share.line, "a");
}

TEST(Answer, what_nobody_learned_names_no_default) {
  Results results;
  add_task(results, "one", true, {{"a", {0, 0}, {0, 0}, false}, {"b", {0, 0}, {1, 1}, false}});
  const Answer answer = answer_of(results);
  EXPECT_TRUE(answer.defaults.empty());
  EXPECT_EQ(answer.tasks[0].not_learned, (std::vector<std::string>{"a", "b"}));
}

// A stretched line competes beyond, a tuned one only where tuning is asked about; in range only what was trained.
TEST(Answer, lines_compete_where_they_belong) {
  Results results;
  add_task(results, "one", true,
           {{"a", {1, 1}, {0.5, 0.5}},
            {"a+stretched", {0.2, 0.2}, {0.7, 0.7}, true, "a"},
            {"a+tuned", {1, 1}, {0.9, 0.9}, true, "a", true}});
  const Answer answer = answer_of(results);
  EXPECT_EQ(answer.defaults, std::vector<std::string>{"a+stretched"});
  EXPECT_EQ(answer.rows.size(), 2u);
  EXPECT_EQ(answer.tasks[0].in_range.size(), 1u);
  EXPECT_EQ(answer.tasks[0].beyond.size(), 2u);
  ASSERT_EQ(answer.tasks[0].after_tuning.size(), 3u);
  EXPECT_EQ(answer.tasks[0].after_tuning[0].line, "a+tuned");
  results.verdicts.pop_back();  // without the tuned line's verdict nothing was tuned
  EXPECT_TRUE(answer_of(results).tasks[0].after_tuning.empty());
}

TEST(Answer, a_line_whose_seeds_all_miss_a_task_is_ranked_without_an_interval) {
  Results results;
  add_task(results, "one", true, {{"a", {1, 1}, {0.4, {}}}, {"b", {1, 1}, {0.8, 0.8}}});
  add_task(results, "two", true, {{"a", {1, 1}, {{}, 0.8}}, {"b", {1, 1}, {0.8, 0.8}}});
  const Answer answer = answer_of(results);
  ASSERT_EQ(answer.rows.size(), 2u);
  EXPECT_EQ(answer.rows[1].share.line, "a");
  EXPECT_DOUBLE_EQ(answer.rows[1].share.mean.value, 0.75);
  EXPECT_FALSE(answer.rows[1].share.mean.low);
  EXPECT_TRUE(answer.defaults.empty());  // nobody has two seeds to be compared with
}

// 0.9 and 1: mean 0.95, and with one degree of freedom 12.7 x 0.05 = 0.635 to both sides.
TEST(Answer, the_chart_draws_no_share_above_one_and_keeps_the_data) {
  Results results;
  add_task(results, "one", true, {{"a", {1, 1}, {0.9, 1}}});
  const Figure figure = beyond_figures(results, answer_of(results)).at(0);
  const Json& row = figure.spec["concat"][0]["data"]["values"][0];
  EXPECT_NEAR(row["high"].get<double>(), 1.585, 1e-3);
  EXPECT_EQ(row["shown_high"], 1.0);
  EXPECT_NEAR(row["low"].get<double>(), 0.315, 1e-3);
  EXPECT_EQ(row["shown_low"], row["low"]);
  EXPECT_NE(figure.caption.find("cut where the number can go no further"), std::string::npos);
}

}  // namespace
}  // namespace locus::figures
