// SPDX-License-Identifier: Apache-2.0
// Nothing in the oracle is left out: every case of every index is a test of its folder's suite, and every other JSON
// file is one that a test of this executable reads by name.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "support/oracle.h"

namespace locus::testing {
namespace {

const std::map<std::string, std::string> suite_of_folder = {
    {"alibi", "Oracle/AlibiOracle"},
    {"apply", "Oracle/ApplyOracle"},
    {"crosspeer", "Oracle/CrosspeerOracle"},
    {"ggml", "Oracle/GgmlOracle"},
    {"rope", "Oracle/RopeOracle"},
    {"shaw", "Oracle/ShawOracle"},
    {"sinusoidal", "Oracle/SinusoidalOracle"},
    {"t5", "Oracle/T5Oracle"},
    {"transformer_xl", "Oracle/TransformerXlOracle"},
    {"xpos", "Oracle/XposOracle"},
};

const std::map<std::string, std::string> suite_of_file = {
    {"alibi/slopes.json", "AlibiOracleFiles"},
    {"apply/deepseek_softmax_scale.json", "ApplyOracleFiles"},
    {"deberta/log_buckets.json", "DebertaOracleFiles"},
    {"swin/relative_position_index.json", "SwinOracleFiles"},
    {"t5/buckets.json", "T5OracleFiles"},
};

/// Names of the tests in a suite: `Test/case` for parameterised ones.
std::set<std::string> tests_of(const std::string& suite) {
  std::set<std::string> names;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const ::testing::TestSuite& candidate = *all.GetTestSuite(s);
    if (candidate.name() != suite) continue;
    for (int t = 0; t < candidate.total_test_count(); ++t) names.insert(candidate.GetTestInfo(t)->name());
  }
  return names;
}

bool has_test_of_case(const std::set<std::string>& tests, const std::string& name) {
  for (const std::string& test : tests) {
    if (test.ends_with("/" + name)) return true;
  }
  return false;
}

TEST(OracleManifest, EveryCaseIsTested) {
  LOCUS_SKIP_WITHOUT_ORACLE();
  for (const auto& folder : std::filesystem::directory_iterator(oracle_folder())) {
    if (!folder.is_directory()) continue;
    const std::string name = folder.path().filename();
    if (name == "interpolate") continue;  // beside what it tests, in tests/tables
    std::set<std::string> cases;
    if (std::filesystem::exists(folder.path() / "index.json")) {
      ASSERT_TRUE(suite_of_folder.contains(name)) << "no suite for the folder " << name;
      const std::set<std::string> tests = tests_of(suite_of_folder.at(name));
      for (const std::string& one : oracle_cases(name)) {
        cases.insert(one + ".json");
        EXPECT_TRUE(has_test_of_case(tests, one)) << name << "/" << one;
      }
      EXPECT_FALSE(cases.empty()) << name;
    }
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      const std::string leaf = file.path().filename();
      if (file.path().extension() != ".json" || leaf == "index.json" || cases.contains(leaf)) continue;
      const auto suite = suite_of_file.find(name + "/" + leaf);
      ASSERT_NE(suite, suite_of_file.end()) << "no test reads " << name << "/" << leaf;
      EXPECT_FALSE(tests_of(suite->second).empty()) << suite->second;
    }
  }
}

}  // namespace
}  // namespace locus::testing
