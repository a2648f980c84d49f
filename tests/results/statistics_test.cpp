// SPDX-License-Identifier: Apache-2.0
// Student's t compared with the tables of textbooks (two-sided 95 % and 99 %), and intervals worked out by hand.
#include "results/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "locus/error.h"
#include "results/student_t.h"

namespace locus::results {
namespace {

// P(|T| < t) by Simpson's rule over the density, with the constant from the same integral over a wide range.
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

// Simpson's rule with 200000 steps has an error far below 1e-9 for this smooth density.
TEST(Statistics, TheQuantilesInvertTheIntegralOfTheDensity) {
  for (const int degrees : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 30, 200}) {
    EXPECT_NEAR(share_within(student_t(degrees, 0.95), degrees), 0.95, 1e-9) << degrees;
  }
}

TEST(Statistics, HasTheQuantilesOfTheTextbooks) {
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

TEST(Statistics, HasTheClosedFormsOfOneAndTwoDegrees) {
  for (const double share : {0.1, 0.5, 0.9, 0.95, 0.99}) {
    // One: T is Cauchy, t = tan(pi share / 2). Two: t = share sqrt(2 / (1 - share^2)).
    const double one = std::tan(std::acos(-1.0) * share / 2), two = share * std::sqrt(2 / (1 - share * share));
    EXPECT_NEAR(student_t(1, share) / one, 1, 1e-12);
    EXPECT_NEAR(student_t(2, share) / two, 1, 1e-12);
  }
}

TEST(Statistics, GivesMeanAndInterval) {
  // 1, 2, 3: mean 2, standard deviation 1, error 1 / sqrt(3), t(2) = 0.95 sqrt(2 / 0.0975) = 4.30265.
  const Estimate three = *estimate(std::vector<double>{1, 2, 3});
  EXPECT_DOUBLE_EQ(three.mean, 2);
  ASSERT_TRUE(three.low && three.high);
  EXPECT_NEAR(*three.low, 2 - 4.30265273 / std::sqrt(3.0), 1e-7);
  EXPECT_NEAR(*three.high, 2 + 4.30265273 / std::sqrt(3.0), 1e-7);
  const Estimate equal = *estimate(std::vector<double>{5, 5});
  EXPECT_EQ(equal.low, 5);
  EXPECT_EQ(equal.high, 5);
}

TEST(Statistics, DoesNotMakeAnIntervalOfOneValue) {
  const Estimate one = *estimate(std::vector<double>{7});
  EXPECT_EQ(one.mean, 7);
  EXPECT_FALSE(one.low);
  EXPECT_EQ(one.seeds, 1u);
}

TEST(Statistics, RefusesInvalidArguments) {
  EXPECT_FALSE(estimate(std::vector<double>{}));
  EXPECT_THROW(student_t(0, 0.95), Error);
  EXPECT_THROW(student_t(3, 1), Error);
}

TEST(Statistics, ANumberThatIsNotFiniteLeavesNoMean) {
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double bad : {std::nan(""), infinite, -infinite}) {
    EXPECT_FALSE(estimate(std::vector<double>{1, bad, 2}));
    EXPECT_FALSE(estimate(BySeed{1, bad, {}}));
  }
  EXPECT_FALSE(estimate(std::vector<double>{infinite, -infinite}));
}

TEST(Statistics, MissingSeedsAreLeftOut) {
  const BySeed a = {1, {}, 3, 5}, b = {0.5, 1, {}, 1};
  EXPECT_EQ(estimate(a)->mean, 3);
  EXPECT_EQ(estimate(a)->seeds, 3u);
  EXPECT_EQ(difference(a, b), (BySeed{0.5, {}, {}, 4}));
  const std::vector<const BySeed*> both = {&a, &b};
  EXPECT_EQ(mean_by_seed(both), (BySeed{0.75, {}, {}, 3}));
  EXPECT_TRUE(mean_by_seed({}).empty());
}

}  // namespace
}  // namespace locus::results
