// SPDX-License-Identifier: Apache-2.0
// Means, intervals and who leads, worked by hand.
#include "figures/report/standing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "figures/made_results.h"
#include "figures/report/student_t.h"

namespace locus::figures {
namespace {

// P(|T| < t) by Simpson's rule over the density, whose constant is found from the same integral far out.
double share_within(double t, double degrees) {
  const auto integral = [&](double to) {
    const int steps = 200000;
    const double h = to / steps;
    double sum = 0;
    for (int i = 0; i <= steps; ++i) {
      const double x = h * i;
      sum += std::pow(1 + x * x / degrees, -(degrees + 1) / 2) * (i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2);
    }
    return sum * h / 3;
  };
  // The whole integral is sqrt(n) B(1/2, n/2) / 2.
  const double whole =
      std::sqrt(degrees) / 2 * std::exp(std::lgamma(0.5) + std::lgamma(degrees / 2) - std::lgamma((degrees + 1) / 2));
  return integral(t) / whole;
}

// Simpson's rule with 200000 steps is right to far below 1e-9 for so smooth a density.
TEST(Standing, the_quantiles_are_those_of_student) {
  for (const int degrees : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 30, 200}) {
    EXPECT_NEAR(share_within(student_t(degrees, 0.95), degrees), 0.95, 1e-9) << degrees;
  }
}

// 1, 2, 3: deviation 1, so 2 +- 4.3027 / sqrt(3).
TEST(Standing, a_mean_has_an_interval_from_two_values_on) {
  const std::vector<double> three = {1, 2, 3}, one = {5};
  const Mean mean = *mean_of(three);
  EXPECT_DOUBLE_EQ(mean.value, 2);
  EXPECT_NEAR(*mean.high - 2, 2.4842, 1e-4);
  EXPECT_NEAR(2 - *mean.low, 2.4842, 1e-4);
  EXPECT_FALSE(mean_of(one)->low);
  EXPECT_FALSE(mean_of({}));
}

TEST(Standing, an_interval_is_shown_within_what_the_number_can_be) {
  ResultTask share, loss;
  loss.is_loss = true;
  const Mean wide{.value = 0.9, .low = -0.5, .high = 2.3, .seeds = 2},
      narrow{.value = 0.9, .low = 0.8, .high = 1, .seeds = 2};
  EXPECT_EQ(*shown(share, wide).low, 0);
  EXPECT_EQ(*shown(share, wide).high, 1);
  EXPECT_EQ(shown(share, wide).value, 0.9);
  EXPECT_EQ(*shown(loss, wide).low, 0);
  EXPECT_EQ(*shown(loss, wide).high, 2.3);
  EXPECT_TRUE(is_cut(share, wide));
  EXPECT_TRUE(is_cut(loss, wide));
  EXPECT_EQ(*shown(share, narrow).high, 1);
  EXPECT_FALSE(is_cut(share, narrow));
  EXPECT_FALSE(is_cut(share, {.value = 0.9, .low = {}, .high = {}, .seeds = 1}));
}

std::vector<std::string> names(const Results& results) {
  std::vector<std::string> all;
  for (const ResultLine& line : results.lines) all.push_back(line.name);
  return all;
}

std::vector<Standing> beyond(const Results& results) {
  return standings(results, results.tasks[0], Range::beyond, names(results));
}

// b is always 0.1 below a, so the interval of the difference is that point; c jumps around a.
TEST(Standing, differences_are_paired_over_seeds) {
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
  EXPECT_NEAR(all[2].difference->value, -0.1, 1e-15);
  EXPECT_FALSE(all[2].leads);
  EXPECT_TRUE(can_tell(all));
}

TEST(Standing, lower_is_better_for_a_loss_and_equal_numbers_lead_together) {
  Results results;
  add_task(results, "t", false, {{"a", {1, 1}, {3, 3}}, {"b", {1, 1}, {2, 2}}, {"c", {1, 1}, {2, 2}}});
  const std::vector<Standing> all = beyond(results);
  EXPECT_EQ(all[0].line, "b");
  EXPECT_TRUE(all[1].leads);
  EXPECT_FALSE(all[2].leads);
}

TEST(Standing, what_was_not_learned_or_not_measured_has_no_place) {
  Results results;
  add_task(results, "t", true,
           {{"a", {1, 1}, {0.1, 0.2}, false}, {"b", {1, 1}, {std::nullopt, std::nullopt}}, {"c", {1, 1}, {0, 0}}});
  const std::vector<Standing> all = beyond(results);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].line, "c");
  EXPECT_FALSE(can_tell(all));
}

// Seed 2 of b is missing, so the two are compared on seeds 1 and 3, where b is 0.2 behind.
TEST(Standing, missing_seeds_are_left_out_of_pairs) {
  Results results;
  add_task(results, "t", true, {{"a", {1, 1, 1}, {0.5, 1.0, 0.6}}, {"b", {1, 1, 1}, {0.3, std::nullopt, 0.4}}});
  const std::vector<Standing> all = beyond(results);
  EXPECT_EQ(all[1].line, "b");
  EXPECT_EQ(all[1].difference->seeds, 2u);
  EXPECT_NEAR(all[1].difference->value, -0.2, 1e-15);
}

TEST(Standing, one_seed_can_tell_nothing) {
  Results results;
  add_task(results, "t", true, {{"a", {1}, {0.9}}, {"b", {1}, {0.1}}});
  const std::vector<Standing> all = beyond(results);
  EXPECT_TRUE(all[0].leads);
  EXPECT_FALSE(all[1].leads);
  EXPECT_FALSE(can_tell(all));
}

// Two lengths beyond: each seed's number is their mean.
TEST(Standing, lengths_are_averaged_seed_by_seed) {
  Results results;
  add_task(results, "t", true, {{"a", {1, 1}, {0.8, 0.6}}});
  results.tasks[0].lengths = {8, 16, 32};
  ResultNumber longer = results.numbers.back();
  longer.length = 32;
  longer.values = {0.4, 0.0};
  results.numbers.push_back(longer);
  const std::vector<Standing> all = beyond(results);
  EXPECT_NEAR(all[0].mean.value, 0.45, 1e-15);  // 0.6 and 0.3
  results.numbers.pop_back();
  EXPECT_TRUE(beyond(results).empty());  // a length is missing
}

}  // namespace
}  // namespace locus::figures
