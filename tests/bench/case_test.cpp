// SPDX-License-Identifier: Apache-2.0
// The verdict of a case: the rules of docs/performance.md on invented numbers.
#include "case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "locus/error.h"
#include "locus/rotate.h"
#include "memory_size.h"
#include "simd_targets.h"

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

TEST(Measure, OnlyWorkOfOtherThreadsMakesTheClockCount) {
  // Processor times of 10 and 20 ms of this thread, 3 ms of others: exactly a tenth is not more than a tenth.
  EXPECT_FALSE(used_threads(std::vector<Times>{{.clock = 0.5, .thread = 0.010}, {.clock = 0.5, .thread = 0.020}}));
  EXPECT_FALSE(used_threads(std::vector<Times>{{.thread = 0.010, .others = 0.001}, {.thread = 0.020}}));
  EXPECT_TRUE(used_threads(std::vector<Times>{{.thread = 0.010, .others = 0.001}, {.thread = 0.020, .others = 0.004}}));
}

TEST(Measure, FastestCallsEveryCandidateAndReturnsOneOfThem) {
  int first = 0, second = 0;
  const auto chosen = fastest({[&] { ++first; }, [&] { ++second; }}, {.round_seconds = 1e-6});
  EXPECT_GT(first, 0);
  EXPECT_GT(second, 0);
  const int before = first + second;
  chosen();
  EXPECT_EQ(first + second, before + 1);
}

TEST(Targets, ANarrowerOneIsUsedOnlyWithinTheCall) {
  const std::string best(simd_target());
  for (const std::int64_t target : simd_targets()) {
    std::string used;
    at_most(target, [&] { used = simd_target(); })();
    EXPECT_EQ(used, target_name(target));
    EXPECT_EQ(simd_target(), best);
    EXPECT_THROW(at_most(target, [] { throw std::runtime_error("enough"); })(), std::runtime_error);
    EXPECT_EQ(simd_target(), best);
  }
  EXPECT_THROW(use_at_most("AVX1024"), Error);
}

TEST(MemorySize, IsAtLeastThreeTimesTheLastLevelCache) {
  const std::size_t bytes = memory_bytes(4096);
  EXPECT_GE(bytes, 4096u);
  EXPECT_GE(bytes, 3 * last_level_cache_bytes());
  EXPECT_LT(bytes, std::max<std::size_t>(8192, 6 * last_level_cache_bytes()));
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
