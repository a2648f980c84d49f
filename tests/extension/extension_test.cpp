// SPDX-License-Identifier: Apache-2.0
// A scheme or a rule takes one file and one line: `locus`, linked with one more of each (staircase.cpp and
// square_root.cpp, see CMakeLists.txt), knows both everywhere. Nothing else is recompiled. The slow test,
// tests/extension/check, does the same in a copy of the tree and with Python, C and the lab.
#include <cmath>
#include <filesystem>

#include "cli/locus_command.h"

namespace locus::testing {
namespace {

class Extension : public ::testing::Test {
 protected:
  std::string out(const std::string& line) const { return output_of(folder_, line); }
  TemporaryFolder folder_;
};

void expect_has(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text.substr(0, 2000);
}

TEST_F(Extension, IsListed) {
  expect_has(out("list"), "a learned number per head for each doubling of the distance");
  expect_has(out("list"), "slow frequencies divided by the square root of the factor");
  expect_has(out("list --markdown"), "| `staircase` | score |");
  expect_has(out("list --markdown"), "`square_root`");
  EXPECT_EQ(run_locus(folder_, "show --scheme stairs").exit_code, 2);
  expect_has(run_locus(folder_, "show --scheme staircas").err, "did you mean 'staircase'?");
}

TEST_F(Extension, IsShown) {
  expect_has(out("show --scheme staircase --set heads=4"), "staircase");
  const Json rope = json_of(folder_,
                            "show --scheme rope --set head_dim=8 pairing=half rule=square_root factor=4 "
                            "original_length=64");
  EXPECT_EQ(rope["rule"], "square_root");
}

TEST_F(Extension, IsReadFromAConfig) {
  folder_.write("config.json", R"({"model_type": "llama", "hidden_size": 32, "num_attention_heads": 4,
    "rope_theta": 10000, "max_position_embeddings": 64,
    "rope_scaling": {"rope_type": "square_root", "factor": 4, "original_max_position_embeddings": 64}})");
  EXPECT_EQ(json_of(folder_, "show --config config.json")["rule"], "square_root");
}

// The spellings and keys of the registry lead to GGUF and back.
TEST_F(Extension, IsConverted) {
  folder_.write("config.json", R"({"model_type": "llama", "hidden_size": 32, "num_attention_heads": 4,
    "rope_theta": 10000, "max_position_embeddings": 256, "rope_scaling": {"rope_type": "square_root", "factor": 4,
    "original_max_position_embeddings": 64, "kept_turns": 0.5}})");
  out("convert to-gguf config.json --output new.gguf");
  const Json shown = json_of(folder_, "show --config new.gguf");
  EXPECT_EQ(shown["rule"], "square_root");
  EXPECT_EQ(shown["arguments"]["kept_turns"], 0.5);
  EXPECT_EQ(shown["arguments"]["original_length"], 64);
  out("convert to-config new.gguf --output back.json");
  const Json back = Json::parse(folder_.read("back.json"))["rope_scaling"];
  EXPECT_EQ(back, Json({{"rope_type", "square_root"},
                        {"factor", 4.0},
                        {"original_max_position_embeddings", 64},
                        {"kept_turns", 0.5}}));
}

// base 10000 and head_dim 8: w = 1, 0.1, 0.01, 0.001; 2 pi / 64 = 0.098, so that the last two are halved.
TEST_F(Extension, RuleIsApplied) {
  write_array<float>(folder_, "q.npy", {1, 8}, {1, 1, 1, 1, 0, 0, 0, 0});
  out("apply --scheme rope --set head_dim=8 pairing=half rule=square_root factor=4 original_length=64 --input q.npy "
      "--axes td --positions 3 --output out.npy");
  const std::vector<double> got = read_array(folder_, "out.npy", io::NpyType::float32, {1, 8});
  const double w[] = {1, 0.1, 0.005, 0.0005};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(got[i], std::cos(3 * w[i]), 1e-6) << i;
    EXPECT_NEAR(got[4 + i], std::sin(3 * w[i]), 1e-6) << i;
  }
}

TEST_F(Extension, IsVerified) {
  expect_has(out("verify --all --scheme staircase"), "staircase steps=3");
  expect_has(out("verify --all --scheme rope"), "rope rule=square_root");
}

TEST_F(Extension, IsPlotted) {
  expect_has(out("plot bias --scheme staircase --set heads=2"), "taircase");
  expect_has(out("plot scaling --json"), "square_root");  // with the other rules, by default
}

}  // namespace
}  // namespace locus::testing
