// SPDX-License-Identifier: Apache-2.0
// Student's t against the table that textbooks print (two-sided 95 % and 99 %), and intervals worked by hand.
#include "run/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "locus/error.h"

namespace locus::lab {
namespace {

TEST(Statistics, has_the_quantiles_of_the_textbooks) {
  const struct {
    int degrees;
    double confidence, t;
  } table[] = {{1, 0.95, 12.706}, {2, 0.95, 4.303},   {3, 0.95, 3.182},  {4, 0.95, 2.776},
               {5, 0.95, 2.571},  {9, 0.95, 2.262},   {10, 0.95, 2.228}, {29, 0.95, 2.045},
               {30, 0.95, 2.042}, {120, 0.95, 1.980}, {1, 0.99, 63.657}, {2, 0.99, 9.925},
               {7, 0.99, 3.499},  {30, 0.99, 2.750},  {1, 0.5, 1.000},   {2, 0.5, 0.816}};
  // The tables have three digits after the point.
  for (const auto& row : table) EXPECT_NEAR(student_t(row.degrees, row.confidence), row.t, 5.1e-4) << row.degrees;
}

TEST(Statistics, has_the_closed_forms_of_one_and_two_degrees) {
  for (const double share : {0.1, 0.5, 0.9, 0.95, 0.99}) {
    // One: T is Cauchy, t = tan(pi share / 2). Two: t = share sqrt(2 / (1 - share^2)).
    const double one = std::tan(std::acos(-1.0) * share / 2), two = share * std::sqrt(2 / (1 - share * share));
    EXPECT_NEAR(student_t(1, share) / one, 1, 1e-12);
    EXPECT_NEAR(student_t(2, share) / two, 1, 1e-12);
  }
}

TEST(Statistics, gives_mean_and_interval) {
  // 1, 2, 3: mean 2, standard deviation 1, error 1 / sqrt(3), t(2) = 0.95 sqrt(2 / 0.0975) = 4.30265.
  const Estimate three = estimate(std::vector<double>{1, 2, 3});
  EXPECT_DOUBLE_EQ(three.mean, 2);
  ASSERT_TRUE(three.interval);
  EXPECT_NEAR(three.interval->low, 2 - 4.30265273 / std::sqrt(3.0), 1e-7);
  EXPECT_NEAR(three.interval->high, 2 + 4.30265273 / std::sqrt(3.0), 1e-7);
  const Estimate equal = estimate(std::vector<double>{5, 5});
  EXPECT_EQ(equal.interval->low, 5);
  EXPECT_EQ(equal.interval->high, 5);
}

TEST(Statistics, does_not_make_an_interval_of_one_value) {
  const Estimate one = estimate(std::vector<double>{7});
  EXPECT_EQ(one.mean, 7);
  EXPECT_FALSE(one.interval);
}

TEST(Statistics, refuses_what_it_cannot_do) {
  EXPECT_THROW(estimate({}), Error);
  EXPECT_THROW(student_t(0, 0.95), Error);
  EXPECT_THROW(student_t(3, 1), Error);
}

}  // namespace
}  // namespace locus::lab
