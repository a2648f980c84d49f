// SPDX-License-Identifier: Apache-2.0
#include "probe/measure/loss_report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "io/bytes.h"

namespace locus::probe {
namespace {

TEST(LossReport, Buckets) {
  const std::vector<double> losses = {1, 2, 3, 5, 5, 8};
  const std::vector<std::int64_t> edges = {0, 1, 4, 10, 20};
  const auto buckets = bucketed(losses, edges);
  ASSERT_EQ(buckets.size(), 3u);  // [10, 20) is empty
  EXPECT_EQ(buckets[0].count, 1);
  EXPECT_EQ(buckets[0].standard_error, 0);
  EXPECT_NEAR(buckets[1].mean, 10.0 / 3, 1e-15);
  // (2, 3, 5): squares about the mean sum to 14/3; sample variance 7/3; over 3 losses.
  EXPECT_NEAR(buckets[1].standard_error, std::sqrt(7.0 / 9), 1e-15);
  EXPECT_EQ(buckets[2].begin, 4);
  EXPECT_EQ(buckets[2].end, 6);
  EXPECT_NEAR(buckets[2].mean, 6.5, 1e-15);
  for (const std::vector<std::int64_t>& wrong : {std::vector<std::int64_t>{0}, {3, 3}, {-1, 2}, {4, 2}}) {
    EXPECT_NE(io::error_of([&] { (void)bucketed(losses, wrong); }), "no error");
  }
  EXPECT_EQ(default_edges(512), (std::vector<std::int64_t>{0, 256, 512, 1024, 2048, 4096}));
}

TEST(LossReport, ARuleBreaksWhereABlockAndTheNextAreWorse) {
  const BreakRule rule{.block = 4, .excess = 0.1, .standard_errors = 3};
  const std::vector<double> baseline(24, 2.0);
  std::vector<double> losses = baseline;
  EXPECT_FALSE(find_break(losses, baseline, rule).position);
  for (std::size_t i = 4; i < 8; ++i) losses[i] = 3;  // a single bad block does not count
  EXPECT_FALSE(find_break(losses, baseline, rule).position);
  for (std::size_t i = 12; i < 24; ++i) losses[i] = 2.5;
  auto found = find_break(losses, baseline, rule);
  EXPECT_EQ(found.position, 12);
  EXPECT_NEAR(found.excess, 0.5, 1e-12);
  for (std::size_t i = 12; i < 24; ++i) losses[i] = 2.05;  // worse, but by too little
  EXPECT_FALSE(find_break(losses, baseline, rule).position);
  // Mean excess 1, standard error 1 (of 2, 2, 2, -2): not three of them.
  for (std::size_t i = 12; i < 24; ++i) losses[i] = i % 4 == 3 ? 0.0 : 4.0;
  EXPECT_FALSE(find_break(losses, baseline, rule).position);
  losses = baseline;
  for (std::size_t i = 20; i < 24; ++i) losses[i] = 3;  // the last block has no successor
  EXPECT_EQ(find_break(losses, baseline, rule).position, 20);
  losses.assign(24, 5.0);
  EXPECT_EQ(find_break(losses, baseline, rule).position, 0);
}

TEST(LossReport, Words) {
  EXPECT_EQ(
      describe(Breaking{640, 0.8}, 4096, 512),
      "breaks at about position 640 (1.25 x the trained length), from there on 0.8 nats above the sliding window");
  EXPECT_EQ(describe(Breaking{}, 4096, 512), "holds up to position 4095, the last measured");
  EXPECT_EQ(describe(Breaking{}, 512, 512), "holds as far as measured, which is not beyond the trained length");
  EXPECT_EQ(describe(Breaking{0, 0.25}, 4096, 512), "is worse from position 0: 0.25 nats above the sliding window");
}

TEST(LossReport, FigureHasAPointPerIntervalAndCurve) {
  std::vector<LossCurve> curves(2);
  curves[0] = {.name = "sliding window", .baseline = true, .losses = {1, 1, 1, 1, 1, 1, 1, 1}};
  curves[1] = {.name = "ntk:2", .losses = {1, 3, 5, 7}};
  const auto figure = loss_figure("m", curves, 4, 4);
  const auto& rows = figure.spec["layer"][0]["data"]["values"];
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[4]["curve"], "ntk:2");
  EXPECT_EQ(rows[4]["position"], 1);
  EXPECT_EQ(rows[4]["loss"], 2.0);
  EXPECT_EQ(rows[5]["loss"], 6.0);
  EXPECT_EQ(figure.spec["layer"][1]["data"]["values"][0]["position"], 4);
}

}  // namespace
}  // namespace locus::probe
