// SPDX-License-Identifier: Apache-2.0
// Parts of one plan, merged: by tasks, by lines, and parts that do not belong together.
#include "results/merge.h"

#include <gtest/gtest.h>

#include "made_results.h"
#include "results/json.h"
#include "results/ranking.h"
#include "support/error_of.h"

namespace locus::results {
namespace {

Results part(const std::string& task, const std::vector<MadeLine>& lines) {
  Results made;
  add_task(made, task, true, lines);
  made.tasks.front().learned_at = 0.5;
  made.run.seeds = {1, 2};
  made.run.baseline = "a";
  made.run.created = "2026-01-0" + std::to_string(lines.size()) + "T00:00:00Z";
  made.run.finished = "2026-01-0" + std::to_string(lines.size()) + "T01:00:00Z";
  made.run.seconds = 10;
  made.run.planned = made.run.completed = static_cast<std::int64_t>(lines.size()) * 2;
  return made;
}

const MadeLine a{"a", {0.9, 0.9}, {0.8, 0.6}}, b{"b", {0.9, 0.8}, {0.2, 0.3}}, c{"c", {1.0, 1.0}, {1.0, 1.0}};

TEST(MergedResults, OfTwoTasksEqualOneRunOfBoth) {
  Results whole = part("first", {a, b});
  add_task(whole, "second", true, {a, b});
  whole.tasks.back().learned_at = 0.5;
  whole.run.seeds = {1, 2};
  conclude(whole);
  const Results all = merged({part("first", {a, b}), part("second", {a, b})});
  EXPECT_EQ(to_json(all).at("numbers"), to_json(whole).at("numbers"));
  EXPECT_EQ(to_json(all).at("ranking"), to_json(whole).at("ranking"));
  EXPECT_EQ(to_json(all).at("pairs"), to_json(whole).at("pairs"));
  EXPECT_EQ(all.run.seconds, 20);
  EXPECT_EQ(all.run.completed, 8);
}

TEST(MergedResults, OfTwoSetsOfLinesRankAllOfThem) {
  const Results all = merged({part("task", {a, b}), part("task", {c})});
  ASSERT_EQ(all.tasks.size(), 1u);
  EXPECT_EQ(all.tasks.front().lines, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(ranking_of(all).lines.front().gain.line, "c");  // the best line of the second part
  EXPECT_EQ(all.run.created, "2026-01-01T00:00:00Z");
  EXPECT_EQ(all.run.finished, "2026-01-02T01:00:00Z");
}

TEST(MergedResults, KeepANumberThatWasNotFiniteWithoutMean) {
  Results broken = part("task", {b});
  broken.numbers.front().values = {0.5, std::nullopt};
  broken.numbers.front().estimate.reset();  // as read from a file
  const Results all = merged({part("task", {a}), broken});
  EXPECT_FALSE(all.main_number(all.tasks.front(), "b", 8)->estimate.has_value());
  EXPECT_TRUE(all.main_number(all.tasks.front(), "a", 8)->estimate.has_value());
}

TEST(Results, LoseTheirCurvesOnly) {
  Results made = part("task", {a, b});
  conclude(made);
  const std::size_t before = made.numbers.size();
  Number curve = made.numbers.front();
  for (const char* name : {"train_loss", "loss_by_position"}) {
    curve.name = name;
    made.numbers.push_back(curve);
  }
  remove_curves(made);
  EXPECT_EQ(made.numbers.size(), before);
}

TEST(MergedResults, AreRefusedWhereThePartsDoNotBelongTogether) {
  const auto refusal = [](Results second) {
    return locus::testing::error_of([&] { merged({part("task", {a}), second}); });
  };
  EXPECT_EQ(refusal(part("task", {a})), "two parts to merge have the line a of the task task");
  Results other = part("task", {b});
  other.tasks.front().steps = 7;
  EXPECT_EQ(refusal(other), "parts to merge have the task task with other settings");
  other = part("task", {b});
  other.run.seeds = {1, 3};
  EXPECT_EQ(refusal(other), "parts to merge have different seeds");
  other = part("task", {b});
  other.run.preset = "quick";
  EXPECT_EQ(refusal(other), "parts to merge have the presets  and quick");
  EXPECT_EQ(locus::testing::error_of([] { merged({}); }), "there is no part to merge");
}

}  // namespace
}  // namespace locus::results
