// SPDX-License-Identifier: Apache-2.0
// A miniature lab with the real model: killed and continued, it gives the same numbers as an uninterrupted run.
#include <gtest/gtest.h>

#include "lab_run/lab_process.h"
#include "results/schema_check.h"

namespace locus::lab {
namespace {

using locus::testing::CommandResult;

class RealLab : public ::testing::Test, protected testing::LabProcess {
 protected:
  RealLab() : LabProcess(LOCUS_LAB) {}
};

const std::vector<std::string> miniature = {
    "--preset", "quick", "--no-speed",     "--tasks", "back,verbs", "--schemes", "rope,learned", "--seeds", "2",
    "--steps",  "12",    "--train-length", "32",      "--lengths",  "1x,2x",     "--workers",    "2"};

TEST_F(RealLab, GivesTheSameNumbersAfterAKill) {
  const pid_t parent = start(miniature);
  wait_for_the_middle();
  kill(parent, SIGKILL);
  wait_for(parent);
  std::vector<std::string> without_report = miniature;
  without_report.push_back("--no-report");
  const CommandResult resumed = lab(without_report);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("trials are done already"), std::string::npos) << resumed.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "locus-lab" / "report.html"));
  const Json numbers = results();

  std::filesystem::remove_all(folder_ / "locus-lab");
  const CommandResult whole = lab(miniature);
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_EQ(whole.err.find("already"), std::string::npos) << whole.err;
  EXPECT_EQ(results(), numbers);
  EXPECT_EQ(locus::testing::schema_complaint(nlohmann::json::parse(folder_.read("locus-lab/results.json"))), "");
  // A build without npm writes no page and does not mention one.
  EXPECT_EQ(whole.err.find("report.html") != std::string::npos,
            std::filesystem::exists(folder_ / "locus-lab" / "report.html"));

  EXPECT_EQ(numbers["run"]["trials"], (Json{{"planned", 8}, {"finished", 8}, {"failed", 0}}));
  std::size_t stretched = 0;
  for (const Json& number : numbers["numbers"]) {
    EXPECT_EQ(number["values"].size(), 2u);
    EXPECT_TRUE(number["mean"].is_number()) << number;
    stretched += number["line"] == "rope+yarn" && number["length"] == 64 && number["name"] == "accuracy";
  }
  EXPECT_EQ(stretched, 1u) << "of the task back";
}

}  // namespace
}  // namespace locus::lab
