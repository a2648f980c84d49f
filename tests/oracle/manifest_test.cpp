// SPDX-License-Identifier: Apache-2.0
// The tests cover the whole oracle: every case of every index is a test of its folder's suite, and a test of this
// executable reads every other JSON file by name.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>

#include "support/oracle.h"

namespace locus::testing {
namespace {

const std::map<std::string, std::string> suite_of_folder = {
    {"alibi", "Oracle/AlibiOracle"},
    {"apply", "Oracle/ApplyOracle"},
    {"axes", "Oracle/AxesOracle"},
    {"conformer", "Oracle/ConformerOracle"},
    {"conv_position", "Oracle/ConvPositionOracle"},
    {"cope", "Oracle/CopeOracle"},
    {"crosspeer", "Oracle/CrosspeerOracle"},
    {"deberta_attention", "Oracle/DebertaAttentionOracle"},
    {"decomposed_2d", "Oracle/Decomposed2dOracle"},
    {"distance_mlp", "Oracle/DistanceMlpOracle"},
    {"fope", "Oracle/FopeOracle"},
    {"forget_gate", "Oracle/ForgetGateOracle"},
    {"ggml", "Oracle/GgmlOracle"},
    {"offset_map", "Oracle/OffsetMapOracle"},
    {"output_rotation", "Oracle/OutputRotationOracle"},
    {"pope", "Oracle/PopeOracle"},
    {"query_temperature", "Oracle/QueryTemperatureOracle"},
    {"rope", "Oracle/RopeOracle"},
    {"shaw", "Oracle/ShawOracle"},
    {"sinusoidal", "Oracle/SinusoidalOracle"},
    {"small_parameters", "Oracle/SmallParametersOracle"},
    {"t5", "Oracle/T5Oracle"},
    {"transformer_xl", "Oracle/TransformerXlOracle"},
    {"xpos", "Oracle/XposOracle"},
    {"zigzag", "Oracle/ZigzagOracle"},
};

const std::map<std::string, std::string> suite_of_file = {
    {"alibi/slopes.json", "AlibiOracleFiles"},
    {"apply/deepseek_softmax_scale.json", "ApplyOracleFiles"},
    {"deberta/log_buckets.json", "DebertaOracleFiles"},
    {"swin/relative_position_index.json", "SwinOracleFiles"},
    {"t5/buckets.json", "T5OracleFiles"},
};

// Read by tests of other executables: tests/encoding/resize_test.cpp and tests/io/hf_config_test.cpp.
const std::set<std::string> tested_elsewhere = {"interpolate", "models"};

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
  for (const auto& folder : std::filesystem::directory_iterator(oracle_folder())) {
    if (!folder.is_directory()) continue;
    const std::string name = folder.path().filename();
    if (tested_elsewhere.contains(name)) continue;
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

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The copy has every case with the same arrays and the same JSON as the original.
TEST(OracleManifest, TheCopyHoldsEveryCase) {
  int cases = 0;
  for (const auto& folder : std::filesystem::directory_iterator(oracle_folder())) {
    if (!folder.is_directory()) continue;
    const std::filesystem::path copy = unpacked_oracle_folder() / folder.path().filename();
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      const std::filesystem::path copied = copy / file.path().filename();
      if (file.path().extension() == ".json") {
        ASSERT_TRUE(std::filesystem::exists(copied)) << copied << " is missing: run scripts/make_golden.py";
        EXPECT_EQ(Json::parse(bytes_of(copied)), Json::parse(bytes_of(file.path()))) << copied;
        ++cases;
      } else if (std::filesystem::exists(copied)) {
        EXPECT_EQ(bytes_of(copied), bytes_of(file.path())) << copied;
      }
    }
  }
  EXPECT_GT(cases, 350);
}

}  // namespace
}  // namespace locus::testing
