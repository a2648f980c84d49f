// SPDX-License-Identifier: Apache-2.0
// The time left and its display, and workers that cannot start.
#include "run/progress.h"

#include <gtest/gtest.h>

#include "locus/error.h"
#include "run/plan.h"
#include "run/supervisor.h"
#include "run/timing.h"
#include "support/command.h"

namespace locus::lab {
namespace {

/// 6 schemes on `back`, 6 on `first`.
std::vector<TrialSpec> specs() {
  PlanRequest request{.preset = "quick", .tasks = {"back", "first"}};
  request.trained_length = 32;
  request.steps = 100;
  return make_plan(request).trials;
}

TEST(Timing, PrefersTheSameSchemeThenTheSameTaskAndScalesByTokens) {
  const std::vector<TrialSpec> all = specs();
  Timing timing;
  EXPECT_FALSE(timing.seconds(all[0]));
  timing.add(all[6], 30);  // of `first`
  EXPECT_EQ(timing.seconds(all[0]), 30 * static_cast<double>(all[0].batch) / static_cast<double>(all[6].batch));
  timing.add(all[1], 5);
  timing.add(all[2], 7);
  EXPECT_EQ(timing.seconds(all[0]), 6);
  timing.add(all[0], 4);
  EXPECT_EQ(timing.seconds(all[0]), 4);
  TrialSpec longer = all[0];
  longer.steps *= 3;
  EXPECT_EQ(timing.seconds(longer), 12);
}

TEST(Timing, CountsTheProgressOfRunningTrials) {
  std::vector<StoredTrial> trials(3);
  const std::vector<TrialSpec> all = specs();
  for (std::size_t i = 0; i < 3; ++i) trials[i].spec = all[i];
  trials[0].state = TrialState::finished;
  trials[1].state = TrialState::leased;
  trials[1].started = 100;
  trials[1].heartbeat = 103;
  trials[1].done = 0.25;  // 3 s for a quarter: 9 s more
  Timing timing;
  EXPECT_FALSE(work_left(trials, timing));  // the duration of the waiting trial is unknown
  timing.add(all[0], 8);
  EXPECT_EQ(work_left(trials, timing), 9 + 8);
  const std::string table = work_table(trials, timing, 2, {.width = 80, .height = 24});
  EXPECT_NE(table.find("trials done: back 1/3\n"), std::string::npos) << table;
  EXPECT_NE(table.find("sinusoidal, seed 1: 25 %"), std::string::npos) << table;
  EXPECT_NE(table.find("41 %, about 9 s left"), std::string::npos) << table;  // 1.25 of 3; 17 s by two workers
}

TEST(Supervisor, GivesUpIfNoWorkerStarts) {
  const locus::testing::TemporaryFolder folder;
  Store store("sqlite:" + (folder / "store.sqlite").string());
  const std::int64_t run = store.begin_run(Json::object(), specs(), false);
  for (const char* program : {"/bin/false", "/no/such/program"}) {
    Supervision how;
    how.command = {program, {}, folder / "workers.log"};
    try {
      supervise(store, run, how);
      FAIL() << program;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("workers do not start"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace locus::lab
