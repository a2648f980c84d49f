// SPDX-License-Identifier: Apache-2.0
// The table of families as a whole, composites with their parts, readings of other versions, and what is not applied.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "io/hf_models.h"
#include "locus/encoding.h"
#include "locus/error.h"
#include "locus/io/hf_config.h"

namespace locus::io {
namespace {

using Json = nlohmann::json;

TEST(HfFamilies, NamesAreUniqueAndEachRowSaysWhereItWasSeen) {
  std::set<std::string_view> names;
  for (const HfModel& row : hf_models()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.seen.empty()) << row.name;
  }
  EXPECT_GE(names.size(), 702u);
}

TEST(HfFamilies, ARefusalSaysWhatTheModelDoes) {
  for (const HfModel& row : hf_models()) {
    if (row.family != HfFamily::unsupported && row.family != HfFamily::no_attention) continue;
    EXPECT_FALSE(row.what.empty()) << row.name;
  }
}

TEST(HfFamilies, PartsNameKnownFamilies) {
  for (const HfModel& row : hf_models()) {
    std::istringstream parts{std::string(row.parts)};
    for (std::string part; parts >> part;) {
      const std::size_t equals = part.find('=');
      ASSERT_NE(equals, std::string::npos) << row.name << ": " << part;
      if (part.substr(equals + 1) == "qwen3_omni_moe_talker") continue;  // a composite without a model type
      EXPECT_NE(find_hf_model(part.substr(equals + 1)), nullptr) << row.name << ": " << part;
    }
  }
}

/// Every known family with only its name gives a valid encoding or a clear refusal.
TEST(HfFamilies, EveryFamilyIsReadOrRefusedInOneSentence) {
  for (const HfModel& row : hf_models()) {
    const Json config = {{"model_type", row.name}};
    try {
      const HfConfig read = resolve_hf_config(config.dump(), "c");
      EXPECT_FALSE(read.layers.empty()) << row.name;
      for (const LayerEncoding& layer : read.layers) EXPECT_FALSE(layer.scheme.empty()) << row.name;
    } catch (const UnsupportedModel& error) {
      EXPECT_EQ(std::string(error.what()).find(" is missing"), std::string::npos) << error.what();
    } catch (const Error& error) {
      // Families outside transformers and composites of any models have no sizes.
      const bool bare = !row.seen.starts_with("transformers") || row.family == HfFamily::composite;
      EXPECT_TRUE(bare || row.name == "blt" || row.name == "yolos" || row.name == "mgp-str" ||
                  row.name == "vitpose_backbone" || row.name == "sapiens2" || row.name == "eomt_dinov3" ||
                  row.name == "recurrent_gemma")
          << error.what();
    }
  }
}

TEST(HfFamilies, ACompositeShowsAllItsParts) {
  const HfConfig config = resolve_hf_config(
      R"({"model_type": "mistral3", "text_config": {"model_type": "mistral", "head_dim": 128, "rope_theta": 1e6},
          "vision_config": {"model_type": "pixtral", "hidden_size": 1024, "num_attention_heads": 16, "image_size": 1540,
          "patch_size": 14, "rope_theta": 10000.0}, "audio_config": {"model_type": "sew-d"}})",
      "c");
  ASSERT_EQ(config.layers.size(), 1u);
  EXPECT_EQ(config.model_type, "mistral");
  ASSERT_EQ(config.parts.size(), 2u);
  EXPECT_EQ(config.parts[0].path, "audio_config");
  EXPECT_NE(config.parts[0].refusal.find("sew-d gets positions from a convolution"), std::string::npos);
  EXPECT_EQ(config.parts[1].model_type, "pixtral");
  ASSERT_EQ(config.parts[1].layers.size(), 1u);
  const Arguments& vision = config.parts[1].layers[0].arguments;
  EXPECT_EQ(vision.text("axes"), "pixtral");
  EXPECT_EQ(vision.integer("grid_width"), 110);
  EXPECT_NO_THROW(Encoding("rope", vision));
}

TEST(HfFamilies, EncoderAndDecoderAreBothTheModel) {
  const HfConfig config = resolve_hf_config(
      R"({"model_type": "t5gemma", "encoder": {"model_type": "t5_gemma_module", "head_dim": 64},
          "decoder": {"model_type": "t5_gemma_module", "head_dim": 128}})",
      "c");
  ASSERT_EQ(config.layers.size(), 2u);
  EXPECT_EQ(config.layers[0].layer_type, "encoder");
  EXPECT_EQ(config.layers[0].arguments.integer("head_dim"), 64);
  EXPECT_EQ(config.layers[1].layer_type, "decoder");
  EXPECT_EQ(config.layers[1].arguments.integer("head_dim"), 128);
}

TEST(HfFamilies, GridsComeFromThePicture) {
  const auto dino = resolve_hf_config(
      R"({"model_type": "dinov3_vit", "hidden_size": 384, "num_attention_heads": 6, "image_size": 224, "patch_size": 16,
          "num_register_tokens": 4, "rope_theta": 100.0})",
      "c");
  const Arguments& arguments = dino.layers.at(0).arguments;
  EXPECT_EQ(arguments.integer("grid_height"), 14);
  EXPECT_EQ(arguments.integer("grid_width"), 14);
  EXPECT_EQ(arguments.integer("prefix"), 5);
  EXPECT_NO_THROW(Encoding("rope", arguments));
}

TEST(HfFamilies, OtherVersionsAreNamedWhereTheyReadOtherwise) {
  const auto readings = [](const std::string& config) {
    return resolve_hf_config(config, "c").layers.at(0).alternatives;
  };
  const auto cohere = readings(R"({"model_type": "cohere", "head_dim": 8})");
  ASSERT_EQ(cohere.size(), 1u);
  EXPECT_EQ(cohere[0].reader, "transformers up to 4.57");
  EXPECT_EQ(cohere[0].arguments.real("base"), 10000);
  EXPECT_TRUE(readings(R"({"model_type": "cohere", "head_dim": 8, "rope_theta": 5})").empty());
  const auto dbrx =
      readings(R"({"model_type": "dbrx", "d_model": 64, "n_heads": 4, "attn_config": {"rope_theta": 5e5}})");
  ASSERT_EQ(dbrx.size(), 1u);
  EXPECT_EQ(dbrx[0].reader, "transformers 5");
  EXPECT_EQ(dbrx[0].arguments.real("base"), 10000);
  for (const char* name : {"persimmon", "olmo3", "falcon_h1"}) {
    EXPECT_EQ(readings(R"({"model_type": ")" + std::string(name) + R"("})").size(), 1u) << name;
  }
  const auto gemma = readings(R"({"model_type": "recurrent_gemma", "head_dim": 256, "partial_rotary_factor": 0.5})");
  ASSERT_EQ(gemma.size(), 1u);
  EXPECT_EQ(gemma[0].arguments.integer("rotary_dim"), 256);
}

TEST(HfFamilies, AQueryTemperatureIsReadAndApplied) {
  const auto layer = resolve_hf_config(
                         R"({"model_type": "ministral3", "rope_parameters": {"rope_type": "yarn", "rope_theta": 1e6,
          "factor": 16, "original_max_position_embeddings": 16384, "mscale": 1, "mscale_all_dim": 1,
          "llama_4_scaling_beta": 0.1}, "max_position_embeddings": 262144})",
                         "c")
                         .layers.at(0);
  ASSERT_TRUE(layer.query_scale.has_value());
  EXPECT_EQ(layer.query_scale->at(16383), 1);
  EXPECT_NEAR(layer.query_scale->at(16384), 1 + 0.1 * std::log(2.0), 1e-15);
  EXPECT_EQ(Encoding("rope", layer.arguments).rotation().softmax_scale_factor, 1);
  EXPECT_EQ(Encoding("rope", layer.arguments).rotation().magnitude, 1);
  EXPECT_EQ(Encoding("rope", layer.arguments).rotation().query_scale->at(16384), layer.query_scale->at(16384));
  EXPECT_NO_THROW(require_applicable(layer, "c"));
}

TEST(HfFamilies, WhatIsNotAppliedIsNamedAndRefusedWhereNumbersAreMade) {
  const auto layer = resolve_hf_config(R"({"model_type": "nanochat"})", "c").layers.at(0);
  try {
    require_applicable(layer, "c");
    ADD_FAILURE() << "was taken";
  } catch (const UnsupportedModel& error) {
    EXPECT_STREQ(error.what(),
                 "c: this model also turns queries and keys the other way, by minus the angle; Locus does not apply "
                 "that yet");
  }
}

TEST(HfFamilies, WellKnownFilesHaveNoUnknownKeys) {
  for (const char* config :
       {R"({"model_type": "phi3", "hidden_size": 3072, "num_attention_heads": 32, "max_position_embeddings": 4096,
            "original_max_position_embeddings": 4096, "rope_scaling": null, "rope_theta": 10000.0})",
        R"({"model_type": "smollm3", "hidden_size": 2048, "num_attention_heads": 16, "no_rope_layer_interval": 4,
            "no_rope_layers": [1, 1, 1, 0], "rope_theta": 5e6, "max_position_embeddings": 65536})",
        R"({"model_type": "gptj", "n_embd": 4096, "n_head": 16, "n_positions": 2048, "rotary": true,
            "rotary_dim": 64})"}) {
    for (const LayerEncoding& layer : resolve_hf_config(config, "c").layers) {
      EXPECT_TRUE(layer.unknown.empty()) << config << ": " << (layer.unknown.empty() ? "" : layer.unknown[0]);
    }
  }
}

TEST(HfFamilies, ASoftmaxScaleOfItsOwnIsRead) {
  const auto granite = resolve_hf_config(
      R"({"model_type": "granite", "hidden_size": 64, "num_attention_heads": 4, "attention_multiplier": 0.015625})",
      "c");
  EXPECT_EQ(granite.layers.at(0).softmax_scale, 0.015625);
  const auto gemma = resolve_hf_config(R"({"model_type": "gemma2", "query_pre_attn_scalar": 144})", "c");
  EXPECT_NEAR(gemma.layers.at(0).softmax_scale.value_or(0), 1.0 / 12, 1e-15);
  EXPECT_FALSE(resolve_hf_config(R"({"model_type": "llama"})", "c").layers.at(0).softmax_scale.has_value());
}

// inclusionAI/Ming modeling_bailing_moe_v2.py, apply_3d_rotary_pos_emb: with video_rope the first section[1] + section[2]
// pairs alternate height and width and the last section[0] follow time; with 3D the sections stand in order. Files write
// "factor": null, and sections default to 8, 12, 12.
TEST(HfFamilies, MingsVideoRope) {
  const auto rotation_of = [](const std::string& block) {
    const HfConfig config = resolve_hf_config(
        R"({"model_type": "bailingmm_moe_v2_lite", "llm_config": {"model_type": "bailing_moe_v2", "head_dim": 128,
            "hidden_size": 2048, "num_attention_heads": 16, "partial_rotary_factor": 0.5, "rope_theta": 2400000,
            "rope_scaling": )" +
            block + "}}",
        "c");
    return Encoding(config.layers.at(0).scheme, config.layers.at(0).arguments);
  };
  const Encoding video = rotation_of(R"({"factor": null, "type": "video_rope"})");
  const Encoding plain = rotation_of(R"({"factor": null, "type": "3D", "mrope_section": [8, 12, 12]})");
  ASSERT_EQ(video.rotation().pairs(), 32);
  EXPECT_EQ(video.rotation().axes, 3);
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(video.rotation().axis[i], i < 24 ? 1 + i % 2 : 0) << i;
    EXPECT_EQ(plain.rotation().axis[i], i < 8 ? 0 : i < 20 ? 1 : 2) << i;
    EXPECT_NEAR(video.rotation().inv_freq[i], std::pow(2400000.0, -static_cast<double>(i) / 32), 1e-12) << i;
  }
}

}  // namespace
}  // namespace locus::io
