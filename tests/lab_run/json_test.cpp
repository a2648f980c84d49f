// SPDX-License-Identifier: Apache-2.0
// What the lab's commands print with --json is valid under docs/schemas. tests/lab_run/run_test.cpp checks results.json.
#include <gtest/gtest.h>

#include "lab_run/shared_lab.h"
#include "results/schema_check.h"
#include "run/status.h"

namespace locus::lab {
namespace {

using locus::testing::TemporaryFolder;
using testing::SharedLab;

class LabJson : public ::testing::Test {
 protected:
  /// Runs a command on the store; returns what its schema complains of.
  std::string complaint(std::vector<std::string> words) {
    const std::string schema = "docs/schemas/lab-" + words.front() + ".schema.json";
    words.emplace_back("--json");
    const locus::testing::CommandResult result = lab_.on_store(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return locus::testing::schema_complaint(nlohmann::json::parse(result.out, nullptr, false), schema);
  }
  static std::vector<std::string> with_trial(std::vector<std::string> words) {
    words.insert(words.end(), {"--preset", "quick", "--tasks", "back", "--seeds", "1", "--schemes", "rope"});
    return words;
  }
  TemporaryFolder folder_;
  SharedLab lab_{LOCUS_FAKE_LAB, "sqlite:" + (folder_ / "store.sqlite").string()};
};

TEST_F(LabJson, OfAPlanFollowsItsSchema) {
  EXPECT_EQ(complaint(with_trial({"plan"})), "");  // without times
  EXPECT_EQ(complaint(with_trial({"plan", "--measure"})), "");
}

TEST_F(LabJson, OfASharedRunFollowsItsSchema) {
  EXPECT_EQ(complaint(with_trial({"submit"})), "");
  EXPECT_EQ(complaint({"status"}), "");
  Store store(lab_.url());
  ASSERT_TRUE(store.lease(0, {.owner = "dead-node/1/1/1", .seconds = 0.2}));
  ASSERT_EQ(status_of(store)["runs"][0]["running"].size(), 1u);
  EXPECT_EQ(complaint({"status"}), "");
  EXPECT_EQ(lab_.on_store({"work", "--out", "a"}).exit_code, 0);
  EXPECT_EQ(complaint({"status"}), "");
}

}  // namespace
}  // namespace locus::lab
