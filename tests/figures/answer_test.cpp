// SPDX-License-Identifier: Apache-2.0
// The rules of the answer on numbers small enough to work by hand.
#include "figures/answer.h"

#include <gtest/gtest.h>

#include "figures/made_results.h"
#include "figures/results_figures.h"

namespace locus::figures {
namespace {

// In `one` a leads alone; in `two` a and b are equal and c is behind. In range all are equal everywhere.
Results two_tasks() {
  Results results;
  add_task(results, "one", true, {{"a", {1, 1}, {0.9, 0.9}}, {"b", {1, 1}, {0.5, 0.5}}, {"c", {1, 1}, {0.6, 0.6}}});
  add_task(results, "two", false, {{"a", {1, 1}, {2, 2}}, {"b", {1, 1}, {2, 2}}, {"c", {1, 1}, {3, 3}}});
  return results;
}

TEST(Answer, the_default_is_what_leads_in_most_tasks) {
  const Results results = two_tasks();
  const Answer answer = answer_of(results);
  EXPECT_TRUE(answer.can_tell);
  EXPECT_EQ(answer.defaults, std::vector<std::string>{"a"});
  ASSERT_EQ(answer.rows.size(), 3u);
  EXPECT_EQ(answer.rows[0].leads_beyond, 2u);
  EXPECT_EQ(answer.rows[0].leads_in_range, 2u);
  EXPECT_EQ(answer.rows[0].mean_place, 1);
  EXPECT_EQ(answer.rows[1].line, "b");
  EXPECT_EQ(answer.rows[1].leads_beyond, 1u);
  EXPECT_EQ(answer.rows[1].mean_place, 2.5);  // third and second
  EXPECT_EQ(answer.rows[2].leads_beyond, 0u);
}

TEST(Answer, equal_counts_make_several_defaults) {
  Results results;
  add_task(results, "one", true, {{"a", {1, 1}, {1, 1}}, {"b", {1, 1}, {1, 1}}});
  EXPECT_EQ(answer_of(results).defaults, (std::vector<std::string>{"a", "b"}));
}

// Beyond they are equal; in range b is clearly worse.
TEST(Answer, what_leads_in_range_breaks_a_tie) {
  Results results;
  add_task(results, "one", true, {{"a", {1, 1}, {0.5, 0.5}}, {"b", {0.9, 0.9}, {0.5, 0.5}}});
  EXPECT_EQ(answer_of(results).defaults, std::vector<std::string>{"a"});
}

TEST(Answer, one_seed_names_no_default) {
  Results results;
  add_task(results, "one", true, {{"a", {1}, {1}}, {"b", {1}, {0}}});
  const Answer answer = answer_of(results);
  EXPECT_FALSE(answer.can_tell);
  EXPECT_TRUE(answer.defaults.empty());
  EXPECT_EQ(answer.rows.front().line, "a");
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
  EXPECT_EQ(answer.rows[0].leads_in_range, 1u);  // a's
  EXPECT_EQ(answer.tasks[0].in_range.size(), 1u);
  EXPECT_EQ(answer.tasks[0].beyond.size(), 2u);
  ASSERT_EQ(answer.tasks[0].after_tuning.size(), 3u);
  EXPECT_EQ(answer.tasks[0].after_tuning[0].line, "a+tuned");
  results.verdicts.pop_back();  // without the tuned line's verdict nothing was tuned
  EXPECT_TRUE(answer_of(results).tasks[0].after_tuning.empty());
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
