// SPDX-License-Identifier: Apache-2.0
#include "locus/io/hf_config.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "locus/error.h"
#include "support/oracle.h"

namespace locus::io {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

bool contains(const std::vector<std::string>& list, const std::string& entry) {
  return std::find(list.begin(), list.end(), entry) != list.end();
}

bool any_starts_with(const std::vector<std::string>& list, const std::string& start) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& entry) { return entry.starts_with(start); });
}

// ---- what model types imply ----

TEST(HfConfig, PairingOfModelTypes) {
  const std::vector<std::pair<std::string, std::string>> expected = {{"gptj", "interleaved"},
                                                                     {"codegen", "interleaved"},
                                                                     {"cohere", "interleaved"},
                                                                     {"glm", "interleaved"},
                                                                     {"glm4", "interleaved"},
                                                                     {"chatglm", "interleaved"},
                                                                     {"glm4v_text", "interleaved"},
                                                                     {"deepseek_v2", "interleaved"},
                                                                     {"ernie4_5", "interleaved"},
                                                                     {"helium", "interleaved"},
                                                                     {"roformer", "interleaved"},
                                                                     {"llama4_text", "interleaved"},
                                                                     {"llama", "half"},
                                                                     {"qwen3_moe", "half"},
                                                                     {"glm4_moe", "half"},
                                                                     {"gpt_neox", "half"},
                                                                     {"phi3", "half"},
                                                                     {"never_heard_of", "half"}};
  for (const auto& [model_type, pairing] : expected) {
    const Json config = {{"model_type", model_type}, {"head_dim", 128}, {"rope_theta", 1e4}};
    const auto layer = resolve_hf_config(config.dump(), "config.json").layers.at(0);
    EXPECT_EQ(layer.arguments.text("pairing"), pairing) << model_type;
    EXPECT_EQ(any_starts_with(layer.defaulted, "pairing = half"), model_type == "never_heard_of") << model_type;
  }
}

TEST(HfConfig, DefaultBaseOfModelTypes) {
  const std::vector<std::pair<std::string, double>> expected = {
      {"llama", 1e4},   {"mixtral", 1e6}, {"cohere", 5e5}, {"llama4_text", 5e5}, {"qwen2", 1e4},    {"qwen2_vl", 1e6},
      {"smollm3", 2e6}, {"helium", 1e5},  {"phimoe", 1e6}, {"olmo3", 5e5},       {"seed_oss", 1e4}, {"ernie4_5", 5e5}};
  for (const auto& [model_type, base] : expected) {
    const Json config = {{"model_type", model_type}, {"head_dim", 128}};
    const auto layer = resolve_hf_config(config.dump(), "config.json").layers.at(0);
    EXPECT_EQ(layer.arguments.real("base"), base) << model_type;
    EXPECT_TRUE(any_starts_with(layer.defaulted, "rope_theta = ")) << model_type;
  }
}

// ---- options ----

TEST(HfConfig, PairingOption) {
  HfOptions options;
  options.pairing = "interleaved";
  const auto llama = resolve_hf_config(R"({"model_type": "llama", "head_dim": 64})", "c", options).layers.at(0);
  EXPECT_EQ(llama.arguments.text("pairing"), "interleaved");
  options.pairing = "half";
  const auto v3 = resolve_hf_config(R"({"model_type": "deepseek_v3"})", "c", options).layers.at(0);
  EXPECT_EQ(v3.arguments.text("pairing"), "half");
  EXPECT_FALSE(v3.arguments.has("output_order"));
}

TEST(HfConfig, LengthGoesToTheRulesThatDependOnIt) {
  HfOptions options;
  options.length = 40000;
  const auto length_of = [&](const std::string& block) {
    const std::string config = R"({"head_dim": 4, "max_position_embeddings": 4096, "rope_scaling": )" + block + "}";
    return resolve_hf_config(config, "c", options).layers.at(0).arguments.maybe_integer("length");
  };
  EXPECT_EQ(length_of(R"({"type": "dynamic", "factor": 2})"), 40000);
  EXPECT_EQ(length_of(R"({"type": "longrope", "short_factor": [1, 1], "long_factor": [2, 2]})"), 40000);
  EXPECT_EQ(length_of(R"({"type": "linear", "factor": 2})"), std::nullopt);
  EXPECT_EQ(length_of(R"({"type": "yarn", "factor": 2})"), std::nullopt);
}

TEST(HfConfig, LayerTypeOption) {
  HfOptions options;
  options.layer_type = "full_attention";
  const std::string gemma = R"({"model_type": "gemma3_text", "rope_local_base_freq": 10000})";
  const HfConfig full = resolve_hf_config(gemma, "c", options);
  ASSERT_EQ(full.layers.size(), 1u);
  EXPECT_EQ(full.layers[0].arguments.real("base"), 1e6);
  // Named in layer_types although all layers are the same: this is valid.
  const std::string alike = R"({"model_type": "qwen2", "head_dim": 64, "layer_types": ["full_attention"]})";
  EXPECT_EQ(resolve_hf_config(alike, "c", options).layers.size(), 1u);
}

// ---- notes ----

TEST(HfConfig, NotesWhatWasReadDefaultedAndLeftOver) {
  const HfConfig config = resolve_hf_config(
      R"({"model_type": "m", "torch_dtype": "bfloat16", "rope_theta": 7, "text_config": {"hidden_size": 64,
          "num_attention_heads": 4, "rope_theta": 20000, "vocab_size": 9, "use_rotary_magic": true, "alibi": null,
          "max_position_embeddings": 512, "rope_scaling": {"type": "linear", "factor": 2, "beta_fast": 32,
          "finetuned": true}}})",
      "c");
  EXPECT_EQ(config.model_type, "m");
  EXPECT_EQ(config.dtype, "bfloat16");
  const LayerEncoding& layer = config.layers.at(0);
  EXPECT_EQ(layer.trained_length, 512);
  for (const char* key :
       {"model_type", "text_config.rope_theta", "text_config.hidden_size", "text_config.num_attention_heads",
        "text_config.max_position_embeddings", "text_config.rope_scaling.type", "text_config.rope_scaling.factor"}) {
    EXPECT_TRUE(contains(layer.used, key)) << key;
  }
  EXPECT_EQ(layer.used.size(), 7u);
  EXPECT_EQ(layer.defaulted,
            std::vector<std::string>{"pairing = half (model_type m is not in the table: assumed, since "
                                     "most models have it)"});
  EXPECT_EQ(layer.unknown,
            (std::vector<std::string>{"ignored: rope_theta (text_config is read instead)",
                                      "text_config.rope_scaling.beta_fast", "text_config.rope_scaling.finetuned",
                                      "text_config.use_rotary_magic"}));
}

TEST(HfConfig, NotesDefaults) {
  const auto layer =
      resolve_hf_config(R"({"hidden_size": 64, "num_attention_heads": 4, "rope_scaling": null})", "c").layers.at(0);
  EXPECT_TRUE(contains(layer.defaulted, "rope_theta = 10000 (transformers' default)"));
  EXPECT_TRUE(contains(layer.defaulted, "pairing = half (no model_type: assumed, since most models have it)"));
  EXPECT_TRUE(layer.unknown.empty());
  const auto gemma = resolve_hf_config(R"({"model_type": "gemma3_text", "rope_theta": 1e6})", "c");
  EXPECT_TRUE(
      contains(gemma.layers.at(0).defaulted, "rope_local_base_freq = 10000 (transformers' default for gemma3_text)"));
  EXPECT_TRUE(gemma.layers.at(0).unknown.empty());
  EXPECT_TRUE(gemma.layers.at(1).unknown.empty());
  const auto oss = resolve_hf_config(R"({"model_type": "gpt_oss"})", "c").layers.at(0);
  EXPECT_TRUE(contains(oss.defaulted, "factor = 32 (transformers' default for gpt_oss)"));
  EXPECT_EQ(oss.used, std::vector<std::string>{"model_type"});
}

TEST(HfConfig, NotesTheLoser) {
  const auto both = resolve_hf_config(R"({"head_dim": 8, "rope_scaling": {"type": "linear", "factor": 2},
      "rope_parameters": {"rope_type": "default"}})",
                                      "c");
  EXPECT_TRUE(any_starts_with(both.layers.at(0).unknown, "ignored: rope_parameters ("));
  const auto theta = resolve_hf_config(R"({"head_dim": 8, "rope_theta": 5, "rope_parameters": {"rope_theta": 7,
      "rope_type": "default"}})",
                                       "c");
  EXPECT_EQ(theta.layers.at(0).arguments.real("base"), 7);
  EXPECT_TRUE(any_starts_with(theta.layers.at(0).unknown, "ignored: rope_theta ("));
  const auto same = resolve_hf_config(R"({"head_dim": 8, "rope_theta": 7, "rope_parameters": {"rope_theta": 7.0,
      "rope_type": "default"}})",
                                      "c");
  EXPECT_TRUE(same.layers.at(0).unknown.empty());
  const auto type = resolve_hf_config(R"({"head_dim": 8, "rope_scaling": {"type": "yarn", "rope_type": "linear",
      "factor": 2}})",
                                      "c");
  EXPECT_EQ(type.layers.at(0).arguments.text("rule"), "linear");
  EXPECT_TRUE(any_starts_with(type.layers.at(0).unknown, "ignored: rope_scaling.type ("));
}

TEST(HfConfig, OriginalLength) {
  const auto resolve = [](const std::string& model_type) {
    return resolve_hf_config(R"({"model_type": ")" + model_type + R"(", "head_dim": 4, "max_position_embeddings": 4096,
        "original_max_position_embeddings": 1024, "rope_scaling": {"type": "longrope", "short_factor": [1, 1],
        "long_factor": [2, 2], "original_max_position_embeddings": 2048}})",
                             "c")
        .layers.at(0);
  };
  EXPECT_EQ(resolve("phi3").arguments.integer("original_length"), 1024);
  EXPECT_EQ(resolve("llama").arguments.integer("original_length"), 2048);
  EXPECT_EQ(resolve("llama").trained_length, 2048);
  EXPECT_TRUE(any_starts_with(resolve("llama").unknown, "ignored: original_max_position_embeddings ("));
  const auto absent = resolve_hf_config(R"({"head_dim": 4, "max_position_embeddings": 4096, "rope_scaling":
      {"type": "yarn", "factor": 4}})",
                                        "c")
                          .layers.at(0);
  EXPECT_EQ(absent.arguments.integer("original_length"), 4096);
  EXPECT_TRUE(any_starts_with(absent.defaulted, "original_max_position_embeddings = 4096"));
}

TEST(HfConfig, DuplicateKeysTakeTheLast) {
  const auto layer = resolve_hf_config(R"({"rope_theta": 5, "head_dim": 8, "head_dim": 16})", "c").layers.at(0);
  EXPECT_EQ(layer.arguments.integer("head_dim"), 16);
}

// ---- files ----

TEST(HfConfig, ReadsFiles) {
  const fs::path folder = fs::path(::testing::TempDir()) / "locus_hf_config";
  fs::create_directories(folder);
  const fs::path path = folder / "config.json";
  std::ofstream(path) << R"({"model_type": "llama", "head_dim": 64, "dtype": "float16"})";
  const HfConfig config = read_hf_config(path);
  EXPECT_EQ(config.layers.at(0).arguments.integer("head_dim"), 64);
  EXPECT_EQ(config.dtype, "float16");
  std::ofstream(path, std::ios::trunc).close();
  EXPECT_THROW(read_hf_config(path), Error);
  fs::resize_file(path, (16u << 20) + 1);
  EXPECT_THROW(read_hf_config(path), Error);
  EXPECT_THROW(read_hf_config(folder), Error);
  EXPECT_THROW(read_hf_config(folder / "absent.json"), Error);
  fs::remove_all(folder);
}

// ---- the peers' cases ----

std::vector<Json> oracle_cases(const std::string& folder) {
  std::vector<Json> cases;
  for (const auto& entry : fs::directory_iterator(testing::oracle_folder() / folder)) {
    if (entry.path().extension() != ".json" || entry.path().filename() == "index.json") continue;
    cases.push_back(Json::parse(std::ifstream(entry.path())));
  }
  return cases;
}

LayerEncoding resolve_case(const Json& peer) {
  HfOptions options;
  if (peer.contains("layer_type") && peer["layer_type"].is_string()) options.layer_type = peer["layer_type"];
  const HfConfig config = resolve_hf_config(peer["config"].dump(), peer["case"].get<std::string>(), options);
  EXPECT_EQ(config.layers.size(), 1u);
  return config.layers.at(0);
}

TEST(HfConfig, ResolvesThePeersRopeCases) {
  const auto cases = oracle_cases("rope");
  EXPECT_GT(cases.size(), 30u);
  for (const Json& peer : cases) {
    SCOPED_TRACE(peer["case"].get<std::string>());
    const LayerEncoding layer = resolve_case(peer);
    EXPECT_EQ(layer.arguments.integer("rotary_dim"), peer["rotary_dim"].get<std::int64_t>());
    std::string rule = peer["rope_type"];
    if (rule == "default") rule = "none";
    if (rule == "dynamic") rule = "dynamic_ntk";
    EXPECT_EQ(layer.arguments.text("rule"), rule);
    Json block = peer["rope_parameters_after_hf_standardize"];
    if (peer["layer_type"].is_string()) block = block[peer["layer_type"].get<std::string>()];
    EXPECT_EQ(layer.arguments.real("base"), block["rope_theta"].get<double>());
    if (block.contains("original_max_position_embeddings") && layer.arguments.has("original_length")) {
      EXPECT_EQ(layer.arguments.integer("original_length"), block["original_max_position_embeddings"].get<int>());
    }
    EXPECT_TRUE(layer.unknown.empty()) << layer.unknown.front();
  }
}

TEST(HfConfig, ResolvesThePeersAppliedCases) {
  int resolved = 0;
  for (const Json& peer : oracle_cases("apply")) {
    if (!peer.contains("config") || !peer["config"].is_object()) continue;
    const Json& config = peer["config"];
    const bool rope = std::any_of(config.items().begin(), config.items().end(),
                                  [](const auto& item) { return item.key().find("rope") != std::string::npos; });
    if (!rope && !config.contains("model_type")) continue;  // only a tower: nothing is inferred
    SCOPED_TRACE(peer["case"].get<std::string>());
    const LayerEncoding layer = resolve_case(peer);
    ++resolved;
    EXPECT_EQ(layer.arguments.integer("head_dim"), peer["shapes"]["q"].back().get<std::int64_t>());
    // "half_split over first 96 of 128": the width where it is not the whole head.
    const std::string pairing = peer["pairing"];
    const auto over = pairing.find("over first ");
    const std::int64_t width =
        over == std::string::npos ? layer.arguments.integer("head_dim") : std::stoll(pairing.substr(over + 11));
    EXPECT_EQ(layer.arguments.integer("rotary_dim"), width);
    if (peer.contains("mrope_section")) {
      EXPECT_EQ(layer.arguments.list("sections"), peer["mrope_section"].get<std::vector<double>>());
    }
  }
  EXPECT_GE(resolved, 15);
}

TEST(HfConfig, KeysThatComeTwiceAreReported) {
  const HfConfig config = resolve_hf_config(
      R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 2, "max_position_embeddings": 64,
          "rope_theta": 1e4, "rope_theta": 5e5, "rope_theta": 2e5,
          "rope_scaling": {"rope_type": "linear", "factor": 2.0, "factor": 4.0}})",
      "config.json");
  const LayerEncoding& layer = config.layers.at(0);
  EXPECT_EQ(layer.arguments.real("base"), 2e5);  // as Python reads it: the last one
  EXPECT_EQ(layer.arguments.real("factor"), 4);
  std::vector<std::string> said;
  for (const std::string& entry : layer.unknown) {
    if (entry.find("more than once") != std::string::npos) said.push_back(entry);
  }
  EXPECT_EQ(said,
            (std::vector<std::string>{"ignored: rope_theta (given more than once; the last one is read)",
                                      "ignored: rope_scaling.factor (given more than once; the last one is read)"}));
}

}  // namespace
}  // namespace locus::io
