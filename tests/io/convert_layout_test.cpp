// SPDX-License-Identifier: Apache-2.0
#include "locus/io/convert_layout.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "locus/error.h"
#include "locus/io/hf_config.h"
#include "support/error_of.h"

namespace locus::io {
namespace {

using Json = nlohmann::json;

Json converted(const Json& config, ConfigLayout to) {
  return Json::parse(convert_config_layout(config.dump(), to, "config.json").text);
}

std::string refusal(const Json& config, ConfigLayout to) {
  return testing::error_of([&] { convert_config_layout(config.dump(), to, "config.json"); });
}

const Json llama3 = Json::parse(R"({"model_type": "llama", "head_dim": 64, "max_position_embeddings": 131072,
    "rope_theta": 500000.0, "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
    "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}})");

TEST(ConvertLayout, FlatKeysMoveIntoTheBlock) {
  const Json v5 = converted(llama3, ConfigLayout::v5);
  EXPECT_FALSE(v5.contains("rope_theta"));
  EXPECT_FALSE(v5.contains("rope_scaling"));
  EXPECT_EQ(v5.at("rope_parameters").at("rope_theta"), 500000.0);
  EXPECT_EQ(v5.at("rope_parameters").at("rope_type"), "llama3");
  EXPECT_EQ(v5.at("max_position_embeddings"), 131072);
}

TEST(ConvertLayout, ThereAndBackIsTheSame) {
  Json back = converted(converted(llama3, ConfigLayout::v5), ConfigLayout::v4);
  EXPECT_EQ(back.at("rope_scaling").at("type"), "llama3");  // the name that older readers look for
  back.at("rope_scaling").erase("type");
  EXPECT_EQ(back, llama3);
}

TEST(ConvertLayout, APlainBlockLeavesNoScaling) {
  const Json v5 = {
      {"model_type", "llama"}, {"head_dim", 8}, {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 7.0}}}};
  const Json v4 = converted(v5, ConfigLayout::v4);
  EXPECT_EQ(v4.at("rope_theta"), 7.0);
  EXPECT_TRUE(v4.at("rope_scaling").is_null());
}

TEST(ConvertLayout, NestedModelsAndPartsAreConvertedToo) {
  const Json config = {{"model_type", "mistral3"},
                       {"text_config", {{"model_type", "mistral"}, {"head_dim", 8}, {"rope_theta", 1e6}}},
                       {"vision_config", {{"model_type", "pixtral"}, {"rope_theta", 10000.0}}}};
  const Json v5 = converted(config, ConfigLayout::v5);
  EXPECT_EQ(v5.at("text_config").at("rope_parameters").at("rope_theta"), 1e6);
  EXPECT_EQ(v5.at("vision_config").at("rope_parameters").at("rope_theta"), 10000.0);
}

TEST(ConvertLayout, GemmasTwoBases) {
  const Json v4 = {{"model_type", "gemma3_text"}, {"rope_theta", 1e6}, {"rope_local_base_freq", 1e4}};
  const Json v5 = converted(v4, ConfigLayout::v5);
  EXPECT_EQ(v5.at("rope_parameters").at("sliding_attention").at("rope_theta"), 1e4);
  EXPECT_EQ(v5.at("rope_parameters").at("full_attention").at("rope_theta"), 1e6);
  const Json back = converted(v5, ConfigLayout::v4);
  EXPECT_EQ(back.at("rope_local_base_freq"), 1e4);
  EXPECT_EQ(back.at("rope_theta"), 1e6);
}

TEST(ConvertLayout, WhatTheFlatLayoutCannotSayIsRefused) {
  const Json laguna = {
      {"model_type", "laguna"},
      {"rope_parameters",
       {{"full_attention", {{"rope_type", "default"}, {"rope_theta", 5e5}}},
        {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 1e4}, {"partial_rotary_factor", 0.5}}}}}};
  EXPECT_NE(refusal(laguna, ConfigLayout::v4).find("sliding_attention has more than a base"), std::string::npos);
  EXPECT_NE(refusal({{"model_type", "gpt2"}}, ConfigLayout::v5).find("has no RoPE settings to convert"),
            std::string::npos);
  Json both = llama3;
  both["rope_parameters"] = {{"rope_type", "default"}};
  EXPECT_NE(refusal(both, ConfigLayout::v5).find("both given"), std::string::npos);
}

}  // namespace
}  // namespace locus::io
