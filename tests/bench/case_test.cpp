// SPDX-License-Identifier: Apache-2.0
// The verdict of a case: the rules of docs/performance.md on invented numbers.
#include "case.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace locus::bench {
namespace {

Case case_of(Ratio share, std::optional<double> bar, bool beatable = false) {
  Case measured;
  measured.result.share = share;
  measured.bar = bar;
  measured.beatable = beatable;
  return measured;
}

TEST(Verdict, ComparesTheMedianWithTheBarIfTheIntervalIsNarrow) {
  EXPECT_EQ(case_of({0.93, 0.92, 0.94}, 0.92).verdict(), "ok");
  EXPECT_EQ(case_of({0.91, 0.90, 0.93}, 0.92).verdict(), "missed");
  EXPECT_EQ(case_of({0.91, 0.90, 0.93}, {}).verdict(), "");
}

TEST(Verdict, IsNoisyIfTheIntervalIsWiderThanFivePercent) {
  EXPECT_EQ(case_of({0.50, 0.49, 0.52}, 0.9).verdict(), "noisy");    // 6 %, although clearly below
  EXPECT_EQ(case_of({1.00, 0.97, 1.03}, 0.9).verdict(), "noisy");    // 6 %, although clearly above
  EXPECT_EQ(case_of({0.50, 0.49, 0.514}, 0.9).verdict(), "missed");  // 4.8 %
  EXPECT_EQ(case_of({0.50, 0.49, 0.52}, {}).verdict(), "noisy");
}

TEST(Verdict, ReportsAShareAboveOneAsAWrongLimit) {
  const std::string wrong = "the limit is measured wrongly";
  EXPECT_EQ(case_of({1.06, 1.04, 1.07}, 0.9).verdict(), wrong);
  EXPECT_EQ(case_of({1.06, 1.04, 1.07}, {}).verdict(), wrong);
  EXPECT_EQ(case_of({1.30, 1.06, 1.60}, 0.9).verdict(), wrong);  // noisy, but certainly above
  EXPECT_EQ(case_of({1.04, 1.03, 1.06}, 0.9).verdict(), "ok");
  EXPECT_EQ(case_of({8.0, 7.9, 8.1}, 20, true).verdict(), "missed");
  EXPECT_EQ(case_of({21, 20.9, 21.1}, 20, true).verdict(), "ok");
}

TEST(Verdict, ComparesMemoryWithTheAllowedAmount) {
  Case measured = case_of({0.93, 0.92, 0.94}, 0.92);
  measured.extra_memory = ExtraMemory{100, 100};
  EXPECT_EQ(measured.verdict(), "ok");
  measured.extra_memory = ExtraMemory{101, 100};
  EXPECT_EQ(measured.verdict(), "missed");
}

TEST(Measure, MedianAndIntervalAreOrderStatistics) {
  // 41 ratios 1 .. 41: the median is the 21st; 41 / 2 -+ 0.98 sqrt(41) = 20.5 -+ 6.28, indices 14 and 27 from 0.
  std::vector<double> ratios;
  for (int i = 41; i >= 1; --i) ratios.push_back(i);
  const Ratio ratio = median_with_interval(ratios);
  EXPECT_EQ(ratio.median, 21);
  EXPECT_EQ(ratio.low, 15);
  EXPECT_EQ(ratio.high, 28);
  EXPECT_EQ(median_with_interval({4, 1, 3, 2}).median, 2.5);
}

TEST(Measure, ReportsItsProgressAndCanBeStopped) {
  std::vector<double> parts;
  compare([] {}, [] {}, {.rounds = 3, .round_seconds = 1e-6, .progress = [&](double part) { parts.push_back(part); }});
  ASSERT_EQ(parts.size(), 5u);  // two more rounds are dropped
  EXPECT_EQ(parts.front(), 0.2);
  EXPECT_EQ(parts.back(), 1);
  int rounds = 0;
  const auto stop = [&](double) {
    if (++rounds == 2) throw std::runtime_error("enough");
  };
  EXPECT_THROW(compare([] {}, [] {}, {.rounds = 3, .round_seconds = 1e-6, .progress = stop}), std::runtime_error);
  EXPECT_EQ(rounds, 2);
}

}  // namespace
}  // namespace locus::bench
