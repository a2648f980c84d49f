// SPDX-License-Identifier: Apache-2.0
// Configs that are refused, each in a message that names the key, the value and the rule.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "locus/error.h"
#include "locus/io/hf_config.h"

namespace locus::io {
namespace {

struct Refusal {
  std::string config, message;  ///< the message must contain this
};

std::string with_rope(const std::string& block) {
  return R"({"model_type": "llama", "head_dim": 64, "rope_scaling": )" + block + "}";
}

const std::vector<Refusal> refusals = {
    {"", "config.json must hold a JSON object, got nothing"},
    {" \n\t", "got nothing"},
    {"rope_theta: 10000", "is not JSON"},
    {"{", "is not JSON"},
    {R"({"head_dim": 64,})", "is not JSON"},
    {R"({"head_dim": NaN})", "is not JSON"},
    {R"({"head_dim": 64} {})", "is not JSON"},
    {"{\"a\": \"\xff\"}", "is not JSON"},
    {"[1, 2]", "must hold a JSON object, got a list"},
    {"null", "must hold a JSON object, got null"},
    {R"({"head_dim": 64, "rope_theta": 1e999})", "is not JSON"},
    {std::string(100000, '[') + std::string(100000, ']'), "at most 64 levels"},
    {R"({"a": )" + std::string(100000, '['), "at most 64 levels"},
    {"{}", "config.json: no model_type is given, and no key mentions RoPE"},
    {R"({"model_type": "zebra", "hidden_size": 64, "num_attention_heads": 4})",
     "config.json: model_type 'zebra' is unknown, and no key mentions RoPE, ALiBi or a table of positions"},
    {R"({"rope_theta": 1})", "config.json: hidden_size is missing"},
    {R"({"rope_theta": 1, "hidden_size": 64})", "num_attention_heads is missing"},
    {R"({"head_dim": 64, "rope_theta": "10000"})", R"(rope_theta must be a number, got "10000")"},
    {R"({"head_dim": 64, "rope_theta": 0})", "rope_theta must be a positive number, got 0"},
    {R"({"head_dim": 64, "rope_theta": -1e4})", "rope_theta must be a positive number"},
    {R"({"head_dim": 64, "rope_theta": true})", "rope_theta must be a number, got true"},
    {R"({"rope_theta": 1, "head_dim": 64.5})", "head_dim must be an integer from 1 to 2147483647, got 64.5"},
    {R"({"rope_theta": 1, "head_dim": "64"})", "head_dim must be an integer"},
    {R"({"rope_theta": 1, "head_dim": 0})", "head_dim must be an integer"},
    {R"({"rope_theta": 1, "head_dim": -64})", "head_dim must be an integer"},
    {R"({"rope_theta": 1, "head_dim": true})", "head_dim must be an integer"},
    {R"({"rope_theta": 1, "head_dim": 99999999999999999999})", "head_dim must be an integer"},
    {R"({"rope_theta": 1, "hidden_size": 64, "num_attention_heads": 0})", "num_attention_heads must be an integer"},
    {R"({"rope_theta": 1, "hidden_size": 4, "num_attention_heads": 8})",
     "hidden_size must be at least the number of heads (8), got 4"},
    {R"({"rope_theta": 1, "head_dim": 64, "max_position_embeddings": -1})",
     "max_position_embeddings must be an integer"},
    {R"({"head_dim": 64, "model_type": 3})", "model_type must be a string, got 3"},
    {R"({"rope_theta": 1, "head_dim": 64, "torch_dtype": 16})", "torch_dtype must be a string"},
    {R"({"text_config": 3})", "text_config must be an object, got 3"},
    {R"({"text_config": {"rope_theta": 1, "head_dim": "x"}})", "text_config.head_dim must be"},
    {R"({"head_dim": 64, "partial_rotary_factor": 1.5})", "partial_rotary_factor must be at most 1, got 1.5"},
    {R"({"head_dim": 64, "partial_rotary_factor": 0.001})", "rotary width from 1 to head_dim (64), got 0"},
    {R"({"head_dim": 64, "rotary_dim": 128})", "rotary_dim must give a rotary width from 1 to head_dim (64), got 128"},
    {with_rope("\"linear\""), "rope_scaling must be an object, got \"linear\""},
    {with_rope("[]"), "rope_scaling must be an object, got a list"},
    {with_rope(R"({"type": "cubic"})"),
     "rope_scaling.type: unknown rule 'cubic'; known: 3D, default, dynamic, linear, llama3, longrope, mrope, ntk, "
     "proportional, su, telechat3-yarn, video_rope, yarn"},
    {with_rope(R"({"rope_type": 3})"), "rope_scaling.rope_type must be a string, got 3"},
    {with_rope(R"({"type": "linear"})"), "rope_scaling.factor is missing, but rope_type linear needs it"},
    {with_rope(R"({"type": "linear", "factor": [2]})"), "rope_scaling.factor must be a number, got a list"},
    {with_rope(R"({"type": "linear", "factor": -2})"), "rope_scaling.factor must be a positive number, got -2"},
    {with_rope(R"({"type": "dynamic", "factor": 2})"), "max_position_embeddings is missing, but rope_type dynamic"},
    {with_rope(R"({"type": "yarn", "factor": 2})"), "max_position_embeddings is missing, but rope_type yarn"},
    {with_rope(R"({"type": "yarn", "original_max_position_embeddings": 4096})"), "max_position_embeddings is missing"},
    {with_rope(R"({"type": "yarn", "factor": 2, "original_max_position_embeddings": 4096, "truncate": 1})"),
     "rope_scaling.truncate must be true or false, got 1"},
    {with_rope(R"({"type": "yarn", "factor": 2, "original_max_position_embeddings": 4096, "beta_fast": -1})"),
     "rope_scaling.beta_fast must be at least 0"},
    {with_rope(R"({"type": "yarn", "factor": 2, "original_max_position_embeddings": 4096.5})"),
     "rope_scaling.original_max_position_embeddings must be an integer"},
    {with_rope(R"({"type": "llama3", "factor": 8, "low_freq_factor": 1, "original_max_position_embeddings": 8192})"),
     "rope_scaling.high_freq_factor is missing, but rope_type llama3 needs it"},
    {with_rope(R"({"type": "longrope", "short_factor": [1], "long_factor": [1]})"),
     "rope_scaling.short_factor must have rotary_dim / 2 (32) entries, got 1"},
    {with_rope(R"({"type": "longrope", "short_factor": [], "long_factor": [1]})"), "got an empty list"},
    {with_rope(R"({"type": "longrope", "short_factor": ["1"], "long_factor": [1]})"), "got the entry \"1\""},
    {with_rope(R"({"type": "longrope", "short_factor": 1, "long_factor": [1]})"), "must be a list of positive numbers"},
    {with_rope(R"({"type": "mrope"})"), "mrope_section is missing, but rope_type mrope needs it"},
    {with_rope(R"({"type": "mrope", "mrope_section": [16, 24.5]})"), "mrope_section must be a list of integers"},
    {with_rope(R"({"type": "mrope", "mrope_section": [16, -1]})"), "got the entry -1"},
    {R"({"model_type": "gemma3_text", "layer_types": "full"})", "layer_types must be a list of strings"},
    {R"({"model_type": "gemma3_text", "layer_types": [1]})", "layer_types must be a list of strings, got the entry 1"},
    {R"({"head_dim": 8, "rope_parameters": {")" + std::string(101, 'x') + R"(": {}}})",
     "names of at most 100 characters"},
    {R"({"model_type": "smollm3", "head_dim": 8, "no_rope_layers": true})", "no_rope_layers must be a list"},
    {R"({"model_type": "RefinedWeb", "alibi": true})", "num_attention_heads is missing, but ALiBi needs it"},
    {R"({"model_type": "falcon", "alibi": "yes"})", "alibi must be true or false, got \"yes\""},
    {R"({"model_type": "mpt", "n_heads": 8, "attn_config": {"alibi": false}})", "mpt has attn_config.alibi false"},
    {R"({"model_type": "x", "position_embedding_type": "absolute", "hidden_size": 8})",
     "max_position_embeddings is missing, but a learned table needs it"},
    {R"({"model_type": "bert", "hidden_size": 8, "position_embedding_type": "sideways"})",
     "position_embedding_type must be one of"},
    {R"({"model_type": "roberta", "hidden_size": 8, "max_position_embeddings": 4, "pad_token_id": 7})",
     "pad_token_id must leave rows"},
    {R"({"model_type": "roberta", "hidden_size": 8, "max_position_embeddings": 4, "pad_token_id": 3})",
     "pad_token_id must leave rows for positions in a table of 4, got 3"},
    {R"({"model_type": "mamba"})",
     "config.json: mamba has no attention (it is a state-space model): there are no positions to encode"},
    {R"({"model_type": "sew-d", "num_conv_pos_embeddings": 64})",
     "sew-d gets positions from a convolution over 64 neighbouring frames (num_conv_pos_embeddings) in 16 groups, and "
     "has "
     "disentangled attention (pos_att_type); Locus does not express that yet"},
    {R"({"model_type": "vit", "image_size": 8, "patch_size": 16})", "patch_size must be at most image_size (8 x 8)"},
};

TEST(HfConfig, SeesWhatAZeroByteHides) {
  using namespace std::string_literals;
  EXPECT_THROW(resolve_hf_config("{\"head_dim\": 64}\0garbage"s, "config.json"), Error);
}

TEST(HfConfig, Refusals) {
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.config.substr(0, 200));
    try {
      resolve_hf_config(refusal.config, "config.json");
      ADD_FAILURE() << "was accepted";
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(refusal.message), std::string::npos) << message;
      EXPECT_TRUE(message.starts_with("config.json")) << message;
      EXPECT_LT(message.size(), 400u);
    }
  }
}

TEST(HfConfig, SixtyFourLevelsAreFine) {
  // The object is the first level; 63 lists make 64.
  const auto nested = [](std::size_t lists) {
    return R"({"head_dim": 8, "rope": )" + std::string(lists, '[') + std::string(lists, ']') + "}";
  };
  EXPECT_NO_THROW(resolve_hf_config(nested(63), "c"));
  EXPECT_THROW(resolve_hf_config(nested(64), "c"), Error);
}

TEST(HfConfig, RefusesTooMuch) {
  const std::string sixteen_mb = R"({"head_dim": 8, "rope": ")" + std::string((16u << 20) - 27, 'x') + "\"}";
  ASSERT_EQ(sixteen_mb.size(), 16u << 20);
  EXPECT_NO_THROW(resolve_hf_config(sixteen_mb, "c"));
  EXPECT_THROW(resolve_hf_config(sixteen_mb + " ", "c"), Error);
  std::string many = R"({"head_dim": 8, "rope": [0)";
  for (int i = 0; i < 1000000; ++i) many += ",0";
  EXPECT_THROW(resolve_hf_config(many + "]}", "c"), Error);
}

TEST(HfConfig, RefusesOptions) {
  const auto refuses = [](const std::string& config, const HfOptions& options, const std::string& message) {
    try {
      resolve_hf_config(config, "config.json", options);
      ADD_FAILURE() << message << ": was accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  };
  const std::string llama = R"({"model_type": "llama", "head_dim": 64})";
  refuses(llama, {.layer_type = {}, .pairing = "neox", .length = {}}, "pairing must be half or interleaved, got neox");
  refuses(llama, {.layer_type = {}, .pairing = {}, .length = 0}, "length must be at least 1, got 0");
  refuses(llama, {.layer_type = "full_attention", .pairing = {}, .length = {}}, "all layers are alike");
  refuses(R"({"model_type": "gemma3_text"})", {.layer_type = "global", .pairing = {}, .length = {}},
          "unknown layer type 'global'");
}

}  // namespace
}  // namespace locus::io
