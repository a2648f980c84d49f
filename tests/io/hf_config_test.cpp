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

/// Arguments as JSON, so that a case can write what it expects as text.
Json to_json(const Arguments& arguments) {
  Json object = Json::object();
  for (const auto& [name, value] : arguments.all()) {
    if (const auto* flag = std::get_if<bool>(&value)) object[name] = *flag;
    if (const auto* whole = std::get_if<std::int64_t>(&value)) object[name] = *whole;
    if (const auto* real = std::get_if<double>(&value)) object[name] = *real;
    if (const auto* text = std::get_if<std::string>(&value)) object[name] = *text;
    if (const auto* list = std::get_if<std::vector<double>>(&value)) object[name] = *list;
  }
  return object;
}

bool contains(const std::vector<std::string>& list, const std::string& entry) {
  return std::find(list.begin(), list.end(), entry) != list.end();
}

bool any_starts_with(const std::vector<std::string>& list, const std::string& start) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& entry) { return entry.starts_with(start); });
}

// ---- every argument of every layer ----

struct LayerCase {
  std::string layer_type, scheme, arguments;
};
struct ConfigCase {
  std::string name, config;
  std::vector<LayerCase> layers;
};

const std::vector<ConfigCase> config_cases = {
    {"llama 2 as published, without rope_theta",
     R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "max_position_embeddings": 4096})",
     {{"", "rope",
       R"({"head_dim": 128, "rotary_dim": 128, "pairing": "half", "base": 10000, "rule": "none", "axes": "1d",
           "max_length": 4096})"}}},
    {"a llava text_config that leaves its sizes to the class",
     R"({"model_type": "llava", "text_config": {"model_type": "llama", "max_position_embeddings": 4096},
         "vision_config": {"hidden_size": 1024}})",
     {{"", "rope",
       R"({"head_dim": 128, "rotary_dim": 128, "pairing": "half", "base": 10000, "rule": "none", "axes": "1d",
           "max_length": 4096})"}}},
    {"heads that do not divide the width",
     R"({"model_type": "llama", "hidden_size": 100, "num_attention_heads": 3, "rope_theta": 5e5})",
     {{"", "rope",
       R"({"head_dim": 33, "rotary_dim": 33, "pairing": "half", "base": 500000, "rule": "none", "axes": "1d"})"}}},
    {"new flat rope_parameters",
     R"({"model_type": "llama", "head_dim": 64, "max_position_embeddings": 131072, "rope_parameters":
         {"rope_type": "llama3", "rope_theta": 5e5, "factor": 32, "low_freq_factor": 1, "high_freq_factor": 4,
          "original_max_position_embeddings": 8192}})",
     {{"", "rope",
       R"({"head_dim": 64, "rotary_dim": 64, "pairing": "half", "base": 500000, "rule": "llama3", "axes": "1d",
           "max_length": 131072, "factor": 32, "low_freq_factor": 1, "high_freq_factor": 4,
           "original_length": 8192})"}}},
    {"null is absent",
     R"({"model_type": "mistral", "head_dim": null, "hidden_size": 4096, "num_attention_heads": 32,
         "rope_scaling": null, "rope_parameters": null, "rope_theta": 1e6})",
     {{"", "rope",
       R"({"head_dim": 128, "rotary_dim": 128, "pairing": "half", "base": 1000000, "rule": "none", "axes": "1d"})"}}},
    {"rope_scaling before rope_parameters, as transformers 5 does",
     R"({"model_type": "qwen2", "head_dim": 64, "rope_theta": 1e6, "rope_scaling": {"type": "linear", "factor": 2},
         "rope_parameters": {"rope_type": "ntk", "factor": 4, "rope_theta": 5}})",
     {{"", "rope",
       R"({"head_dim": 64, "rotary_dim": 64, "pairing": "half", "base": 1000000, "rule": "linear", "factor": 2,
           "axes": "1d"})"}}},
    {"static ntk",
     R"({"model_type": "llama", "head_dim": 64, "rope_theta": 1e4, "rope_scaling": {"type": "ntk",
         "factor": 4}})",
     {{"", "rope",
       R"({"head_dim": 64, "rotary_dim": 64, "pairing": "half", "base": 10000, "rule": "ntk", "factor": 4,
           "axes": "1d"})"}}},
    {"hunyuan's alpha is static ntk",
     R"({"model_type": "hunyuan_v1_dense", "head_dim": 128, "rope_theta": 1e4, "max_position_embeddings": 32768,
         "rope_scaling": {"type": "dynamic", "alpha": 1000.0, "factor": 1.0}})",
     {{"", "rope",
       R"({"head_dim": 128, "rotary_dim": 128, "pairing": "half", "base": 10000, "rule": "ntk", "factor": 1000,
           "axes": "1d", "max_length": 32768})"}}},
    {"yarn with factor null and every default",
     R"({"model_type": "qwen3", "max_position_embeddings": 65536, "rope_theta": 1e6, "rope_scaling":
         {"rope_type": "yarn", "factor": null, "original_max_position_embeddings": 8192}})",
     {{"", "rope",
       R"({"head_dim": 128, "rotary_dim": 128, "pairing": "half", "base": 1000000, "rule": "yarn", "factor": 8,
           "original_length": 8192, "beta_fast": 32, "beta_slow": 1, "truncate": true, "axes": "1d",
           "max_length": 65536})"}}},
    {"yarn with everything; attn_factor is attention_factor; beta 0 is absent",
     R"({"model_type": "gpt_oss", "max_position_embeddings": 131072, "rope_theta": 150000, "rope_scaling":
         {"rope_type": "yarn", "factor": 32, "beta_fast": 16, "beta_slow": 0, "truncate": false, "mscale": 0.5,
          "mscale_all_dim": 0, "attn_factor": 1.25, "original_max_position_embeddings": 4096.0}})",
     {{"", "rope",
       R"({"head_dim": 64, "rotary_dim": 64, "pairing": "half", "base": 150000, "rule": "yarn", "factor": 32,
           "original_length": 4096, "beta_fast": 16, "beta_slow": 1, "truncate": false, "mscale": 0.5,
           "mscale_all_dim": 0, "attention_factor": 1.25, "axes": "1d", "max_length": 131072})"}}},
    {"gpt_oss without a rope block has the class's yarn",
     R"({"model_type": "gpt_oss"})",
     {{"", "rope",
       R"({"head_dim": 64, "rotary_dim": 64, "pairing": "half", "base": 150000, "rule": "yarn", "factor": 32,
           "original_length": 4096, "beta_fast": 32, "beta_slow": 1, "truncate": false, "axes": "1d"})"}}},
    {"su is longrope; Phi-3's top-level original length; its mscales",
     R"({"model_type": "phi3", "hidden_size": 8, "num_attention_heads": 2, "max_position_embeddings": 131072,
         "original_max_position_embeddings": 4096, "rope_theta": 1e4, "rope_scaling": {"type": "su",
         "short_factor": [1, 1.5], "long_factor": [2, 3], "short_mscale": 1.2, "long_mscale": 1.3}})",
     {{"", "rope",
       R"({"head_dim": 4, "rotary_dim": 4, "pairing": "half", "base": 10000, "rule": "longrope",
           "short_factor": [1, 1.5], "long_factor": [2, 3], "short_mscale": 1.2, "long_mscale": 1.3,
           "original_length": 4096, "axes": "1d", "max_length": 131072})"}}},
    {"longrope with factor and attention_factor",
     R"({"model_type": "llama", "head_dim": 4, "rope_theta": 1e4, "rope_parameters": {"rope_type": "longrope",
         "short_factor": [1, 1], "long_factor": [2, 3], "factor": 32, "attention_factor": 1.19,
         "original_max_position_embeddings": 4096}})",
     {{"", "rope",
       R"({"head_dim": 4, "rotary_dim": 4, "pairing": "half", "base": 10000, "rule": "longrope",
           "short_factor": [1, 1], "long_factor": [2, 3], "factor": 32, "attention_factor": 1.19,
           "original_length": 4096, "axes": "1d"})"}}},
    {"gpt-j",
     R"({"model_type": "gptj", "n_embd": 4096, "n_head": 16, "n_positions": 2048, "rotary_dim": 64})",
     {{"", "rope",
       R"({"head_dim": 256, "rotary_dim": 64, "pairing": "interleaved", "base": 10000, "rule": "none", "axes": "1d",
           "max_length": 2048})"}}},
    {"pythia",
     R"({"model_type": "gpt_neox", "hidden_size": 2048, "num_attention_heads": 16, "rotary_pct": 0.25,
         "rotary_emb_base": 20000})",
     {{"", "rope",
       R"({"head_dim": 128, "rotary_dim": 32, "pairing": "half", "base": 20000, "rule": "none", "axes": "1d"})"}}},
    {"a partial factor inside the block; the product is truncated",
     R"({"model_type": "llama", "head_dim": 192, "rope_parameters": {"rope_theta": 1e4,
         "partial_rotary_factor": 0.334}})",
     {{"", "rope",
       R"({"head_dim": 192, "rotary_dim": 64, "pairing": "half", "base": 10000, "rule": "none", "axes": "1d"})"}}},
    {"stablelm_epoch's rope_pct",
     R"({"model_type": "stablelm_epoch", "hidden_size": 2560, "num_attention_heads": 32,
         "rope_pct": 0.25, "rope_theta": 10000})",
     {{"", "rope",
       R"({"head_dim": 80, "rotary_dim": 20, "pairing": "half", "base": 10000, "rule": "none", "axes": "1d"})"}}},
    {"chatglm",
     R"({"model_type": "chatglm", "kv_channels": 128, "hidden_size": 4096, "num_attention_heads": 32,
         "rope_ratio": 500, "seq_length": 131072})",
     {{"", "rope",
       R"({"head_dim": 128, "rotary_dim": 64, "pairing": "interleaved", "base": 5000000, "rule": "none",
           "axes": "1d", "max_length": 131072})"}}},
    {"deepseek v3",
     R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_attention_heads": 128, "head_dim": 56,
         "qk_rope_head_dim": 64, "rope_theta": 10000})",
     {{"", "rope",
       R"({"head_dim": 64, "rotary_dim": 64, "pairing": "interleaved", "output_order": "deinterleaved",
           "base": 10000, "rule": "none", "axes": "1d"})"}}},
    {"deepseek v3 with converted weights",
     R"({"model_type": "deepseek_v3", "qk_rope_head_dim": 64, "rope_theta": 10000, "rope_interleave": false})",
     {{"", "rope",
       R"({"head_dim": 64, "rotary_dim": 64, "pairing": "half", "base": 10000, "rule": "none", "axes": "1d"})"}}},
    {"deepseek v4 rotates the last coordinates, and compressed layers by another base",
     R"({"model_type": "deepseek_v4", "head_dim": 512, "qk_rope_head_dim": 64, "rope_theta": 10000,
         "compress_rope_theta": 160000, "compress_ratios": [0, 4], "rope_scaling": {"type": "yarn", "factor": 16,
         "original_max_position_embeddings": 65536}})",
     {{"sliding_attention", "rope",
       R"({"head_dim": 512, "rotary_dim": 64, "rotary_offset": 448, "pairing": "interleaved", "base": 10000,
           "rule": "none", "axes": "1d"})"},
      {"compressed_sparse_attention", "rope",
       R"({"head_dim": 512, "rotary_dim": 64, "rotary_offset": 448, "pairing": "interleaved", "base": 160000,
           "rule": "yarn", "factor": 16, "original_length": 65536, "beta_fast": 32, "beta_slow": 1, "truncate": true,
           "attention_factor": 1, "axes": "1d"})"}}},
    {"deepseek v4, nested blocks",
     R"({"model_type": "deepseek_v4", "head_dim": 512, "partial_rotary_factor": 0.125, "layer_types":
         ["sliding_attention", "heavily_compressed_attention"], "rope_parameters": {"main": {"rope_type": "default",
         "rope_theta": 10000}, "compress": {"rope_type": "default", "rope_theta": 160000}}})",
     {{"sliding_attention", "rope",
       R"({"head_dim": 512, "rotary_dim": 64, "rotary_offset": 448, "pairing": "interleaved", "base": 10000,
           "rule": "none", "axes": "1d"})"},
      {"heavily_compressed_attention", "rope",
       R"({"head_dim": 512, "rotary_dim": 64, "rotary_offset": 448, "pairing": "interleaved", "base": 160000,
           "rule": "none", "axes": "1d"})"}}},
    {"qwen2-vl's old mrope",
     R"({"model_type": "qwen2_vl", "hidden_size": 3584, "num_attention_heads": 28,
         "rope_theta": 1e6, "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]}})",
     {{"", "rope",
       R"({"head_dim": 128, "rotary_dim": 128, "pairing": "half", "base": 1000000, "rule": "none", "axes": "mrope",
           "sections": [16, 24, 24]})"}}},
    {"qwen3-vl: interleaved by its model type",
     R"({"model_type": "qwen3_vl", "text_config": {"model_type": "qwen3_vl_text", "head_dim": 128,
         "rope_theta": 5e6, "rope_scaling": {"rope_type": "default", "mrope_section": [24, 20, 20]}}})",
     {{"", "rope",
       R"({"head_dim": 128, "rotary_dim": 128, "pairing": "half", "base": 5000000, "rule": "none",
           "axes": "mrope_interleaved", "sections": [24, 20, 20]})"}}},
    {"interleaved by its key, two levels down",
     R"({"model_type": "x_omni", "thinker_config": {"text_config": {"model_type": "x_omni_text", "head_dim": 128,
         "rope_theta": 1e6, "rope_scaling": {"mrope_interleaved": true, "mrope_section": [24, 20, 20]}}}})",
     {{"", "rope",
       R"({"head_dim": 128, "rotary_dim": 128, "pairing": "half", "base": 1000000, "rule": "none",
           "axes": "mrope_interleaved", "sections": [24, 20, 20]})"}}},
    {"pixtral's grid",
     R"({"model_type": "pixtral", "hidden_size": 1024, "num_attention_heads": 16,
         "rope_theta": 10000})",
     {{"", "rope",
       R"({"head_dim": 64, "rotary_dim": 64, "pairing": "half", "base": 10000, "rule": "none", "axes": "pixtral",
           "grid_width": 64})"}}},
    {"gemma 3, old style: only the full layers are scaled",
     R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 2560,
         "rope_theta": 1000000.0, "rope_local_base_freq": 10000.0, "rope_scaling": {"factor": 8.0,
         "rope_type": "linear"}}})",
     {{"sliding_attention", "rope",
       R"({"head_dim": 256, "rotary_dim": 256, "pairing": "half", "base": 10000, "rule": "none", "axes": "1d"})"},
      {"full_attention", "rope",
       R"({"head_dim": 256, "rotary_dim": 256, "pairing": "half", "base": 1000000, "rule": "linear", "factor": 8,
           "axes": "1d"})"}}},
    {"gemma 3, new style, in the order of layer_types",
     R"({"model_type": "gemma3_text", "layer_types": ["full_attention", "sliding_attention"], "rope_parameters":
         {"sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
          "full_attention": {"rope_type": "linear", "factor": 8, "rope_theta": 1e6}}})",
     {{"full_attention", "rope",
       R"({"head_dim": 256, "rotary_dim": 256, "pairing": "half", "base": 1000000, "rule": "linear", "factor": 8,
           "axes": "1d"})"},
      {"sliding_attention", "rope",
       R"({"head_dim": 256, "rotary_dim": 256, "pairing": "half", "base": 10000, "rule": "none", "axes": "1d"})"}}},
    {"per layer type without layer_types: in the order of the file, null does not rotate",
     R"({"model_type": "llama", "head_dim": 8, "rope_theta": 7, "rope_parameters": {"zeta": {"rope_type": "default"},
         "alpha": null, "mid": {"rope_theta": 9}}})",
     {{"zeta", "rope",
       R"({"head_dim": 8, "rotary_dim": 8, "pairing": "half", "base": 7, "rule": "none", "axes": "1d"})"},
      {"alpha", "nope", "{}"},
      {"mid", "rope",
       R"({"head_dim": 8, "rotary_dim": 8, "pairing": "half", "base": 9, "rule": "none", "axes": "1d"})"}}},
    {"gemma 4: global_head_dim and proportional",
     R"({"model_type": "gemma4_text", "head_dim": 256, "global_head_dim": 512, "rope_parameters":
         {"sliding_attention": {"rope_type": "default", "rope_theta": 1e4}, "full_attention":
          {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1e6}}})",
     {{"sliding_attention", "rope",
       R"({"head_dim": 256, "rotary_dim": 256, "pairing": "half", "base": 10000, "rule": "none", "axes": "1d"})"},
      {"full_attention", "rope",
       R"({"head_dim": 512, "rotary_dim": 512, "rotary_fraction": 0.25, "pairing": "half", "base": 1000000,
           "rule": "proportional", "axes": "1d"})"}}},
    {"gemma 4 with nothing said",
     R"({"model_type": "gemma4_text"})",
     {{"full_attention", "rope",
       R"({"head_dim": 512, "rotary_dim": 512, "rotary_fraction": 0.25, "pairing": "half", "base": 1000000,
           "rule": "proportional", "axes": "1d"})"},
      {"sliding_attention", "rope",
       R"({"head_dim": 256, "rotary_dim": 256, "pairing": "half", "base": 10000, "rule": "none", "axes": "1d"})"}}},
    {"modernbert",
     R"({"model_type": "modernbert", "hidden_size": 768, "num_attention_heads": 12,
         "global_rope_theta": 160000.0, "local_rope_theta": 20000.0})",
     {{"full_attention", "rope",
       R"({"head_dim": 64, "rotary_dim": 64, "pairing": "half", "base": 160000, "rule": "none", "axes": "1d"})"},
      {"sliding_attention", "rope",
       R"({"head_dim": 64, "rotary_dim": 64, "pairing": "half", "base": 20000, "rule": "none", "axes": "1d"})"}}},
    {"olmo 3: one base, only the full layers are scaled",
     R"({"model_type": "olmo3", "head_dim": 128, "rope_theta": 5e5, "layer_types": ["sliding_attention",
         "sliding_attention", "full_attention"], "rope_scaling": {"rope_type": "linear", "factor": 8}})",
     {{"sliding_attention", "rope",
       R"({"head_dim": 128, "rotary_dim": 128, "pairing": "half", "base": 500000, "rule": "none", "axes": "1d"})"},
      {"full_attention", "rope",
       R"({"head_dim": 128, "rotary_dim": 128, "pairing": "half", "base": 500000, "rule": "linear", "factor": 8,
           "axes": "1d"})"}}},
    {"cohere 2: full layers have no positions",
     R"({"model_type": "cohere2", "hidden_size": 4096, "num_attention_heads": 32, "rope_theta": 50000})",
     {{"sliding_attention", "rope",
       R"({"head_dim": 128, "rotary_dim": 128, "pairing": "interleaved", "base": 50000, "rule": "none",
           "axes": "1d"})"},
      {"full_attention", "nope", "{}"}}},
    {"llama 4: every fourth layer goes without",
     R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text", "num_hidden_layers": 48,
         "no_rope_layers": [], "rope_theta": 5e5}})",
     {{"rope", "rope",
       R"({"head_dim": 128, "rotary_dim": 128, "pairing": "interleaved", "base": 500000, "rule": "none",
           "axes": "1d"})"},
      {"no_rope", "nope", "{}"}}},
    {"smollm3 whose layers all rotate",
     R"({"model_type": "smollm3", "head_dim": 128, "no_rope_layers": [1, 1, 1], "rope_theta": 5e6})",
     {{"", "rope",
       R"({"head_dim": 128, "rotary_dim": 128, "pairing": "half", "base": 5000000, "rule": "none",
           "axes": "1d"})"}}},
    {"layer types that do not differ are one",
     R"({"model_type": "gemma2", "layer_types": ["sliding_attention", "full_attention"], "rope_theta": 1e4})",
     {{"", "rope",
       R"({"head_dim": 256, "rotary_dim": 256, "pairing": "half", "base": 10000, "rule": "none", "axes": "1d"})"}}},
    {"bloom",
     R"({"model_type": "bloom", "n_head": 112, "hidden_size": 14336})",
     {{"", "alibi", R"({"heads": 112, "form": "bloom"})"}}},
    {"mpt",
     R"({"model_type": "mpt", "n_heads": 32, "d_model": 4096, "max_seq_len": 2048, "attn_config":
         {"alibi": true, "alibi_bias_max": 16}})",
     {{"", "alibi", R"({"heads": 32, "form": "mpt", "bias_max": 16, "length": 2048})"}}},
    {"falcon with alibi",
     R"({"model_type": "falcon", "alibi": true, "num_attention_heads": 64})",
     {{"", "alibi", R"({"heads": 64, "form": "falcon"})"}}},
    {"falcon without",
     R"({"model_type": "falcon", "alibi": false, "num_attention_heads": 71, "hidden_size": 4544})",
     {{"", "rope",
       R"({"head_dim": 64, "rotary_dim": 64, "pairing": "half", "base": 10000, "rule": "none", "axes": "1d"})"}}},
    {"jina's bert",
     R"({"model_type": "bert", "position_embedding_type": "alibi", "num_attention_heads": 12})",
     {{"", "alibi", R"({"heads": 12, "form": "symmetric"})"}}},
    {"baichuan 13B",
     R"({"model_type": "baichuan", "hidden_size": 5120, "num_attention_heads": 40})",
     {{"", "alibi", R"({"heads": 40, "form": "causal"})"}}},
    {"baichuan, stated",
     R"({"model_type": "baichuan", "position_embedding": "ALIBI", "hidden_size": 4096,
         "num_attention_heads": 32})",
     {{"", "alibi", R"({"heads": 32, "form": "causal"})"}}},
    {"t5",
     R"({"model_type": "t5", "num_heads": 12, "relative_attention_num_buckets": 32})",
     {{"encoder", "t5", R"({"heads": 12, "num_buckets": 32, "max_distance": 128, "bidirectional": true})"},
      {"decoder", "t5", R"({"heads": 12, "num_buckets": 32, "max_distance": 128, "bidirectional": false})"}}},
    {"gpt2",
     R"({"model_type": "gpt2", "n_positions": 1024, "n_embd": 768, "n_head": 12})",
     {{"", "learned", R"({"max_positions": 1024, "dim": 768, "row_offset": 0})"}}},
    {"opt: two rows more",
     R"({"model_type": "opt", "max_position_embeddings": 2048, "hidden_size": 768})",
     {{"", "learned", R"({"max_positions": 2048, "dim": 768, "row_offset": 2})"}}},
    {"roberta: the rows include the padding's",
     R"({"model_type": "roberta", "max_position_embeddings": 514, "hidden_size": 768, "pad_token_id": 1})",
     {{"", "learned", R"({"max_positions": 512, "dim": 768, "row_offset": 2})"}}},
    {"electra embeds narrowly",
     R"({"model_type": "electra", "max_position_embeddings": 512, "hidden_size": 256, "embedding_size": 128})",
     {{"", "learned", R"({"max_positions": 512, "dim": 128, "row_offset": 0})"}}},
    {"marian",
     R"({"model_type": "marian", "d_model": 512, "max_position_embeddings": 512})",
     {{"", "sinusoidal",
       R"({"dim": 512, "base": 10000, "arrangement": "concatenated", "rate": "vaswani", "first_position": 0})"}}},
    {"xlm, sinusoidal",
     R"({"model_type": "xlm", "emb_dim": 2048, "sinusoidal_embeddings": true})",
     {{"", "sinusoidal",
       R"({"dim": 2048, "base": 10000, "arrangement": "interleaved", "rate": "vaswani", "first_position": 0})"}}},
    {"xlm, learned",
     R"({"model_type": "xlm", "emb_dim": 2048, "max_position_embeddings": 512})",
     {{"", "learned", R"({"max_positions": 512, "dim": 2048, "row_offset": 0})"}}},
    {"whisper",
     R"({"model_type": "whisper", "d_model": 384, "max_source_positions": 1500,
         "max_target_positions": 448})",
     {{"encoder", "sinusoidal",
       R"({"dim": 384, "base": 10000, "arrangement": "concatenated", "rate": "fairseq", "first_position": 0})"},
      {"decoder", "learned", R"({"max_positions": 448, "dim": 384, "row_offset": 0})"}}},
    {"granite hybrid that does not rotate",
     R"({"model_type": "granitemoehybrid", "hidden_size": 64,
         "num_attention_heads": 4, "position_embedding_type": "nope"})",
     {{"", "nope", "{}"}}},
};

TEST(HfConfig, Arguments) {
  for (const ConfigCase& c : config_cases) {
    SCOPED_TRACE(c.name);
    HfConfig config;
    ASSERT_NO_THROW(config = resolve_hf_config(c.config, "config.json"));
    ASSERT_EQ(config.layers.size(), c.layers.size());
    for (std::size_t i = 0; i < c.layers.size(); ++i) {
      EXPECT_EQ(config.layers[i].layer_type, c.layers[i].layer_type);
      EXPECT_EQ(config.layers[i].scheme, c.layers[i].scheme);
      EXPECT_EQ(to_json(config.layers[i].arguments), Json::parse(c.layers[i].arguments));
    }
  }
}

TEST(HfConfig, KindsOfValues) {
  const auto layer = resolve_hf_config(R"({"head_dim": 64, "rope_theta": 10000})", "config.json").layers.at(0);
  EXPECT_TRUE(std::holds_alternative<std::int64_t>(*layer.arguments.find("head_dim")));
  EXPECT_TRUE(std::holds_alternative<double>(*layer.arguments.find("base")));
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
  EXPECT_EQ(layer.training_length, 512);
  for (const char* key :
       {"model_type", "text_config.rope_theta", "text_config.hidden_size", "text_config.num_attention_heads",
        "text_config.max_position_embeddings", "text_config.rope_scaling.type", "text_config.rope_scaling.factor"}) {
    EXPECT_TRUE(contains(layer.used, key)) << key;
  }
  EXPECT_EQ(layer.used.size(), 7u);
  EXPECT_EQ(layer.defaulted, std::vector<std::string>{"pairing = half (model_type m is not in the table: assumed, as "
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
  EXPECT_TRUE(contains(layer.defaulted, "pairing = half (no model_type: assumed, as most models have it)"));
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
  EXPECT_EQ(resolve("llama").training_length, 2048);
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

// ---- refusals ----

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
    {"{}", "config.json: no model_type is given, and no key speaks of RoPE"},
    {R"({"model_type": "zebra", "hidden_size": 64, "num_attention_heads": 4})",
     "config.json: model_type 'zebra' is unknown, and no key speaks of RoPE, ALiBi or a table of positions"},
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
    {R"({"head_dim": 64, "rotary_dim": 128})", "rotary_dim must make a rotary width from 1 to head_dim (64), got 128"},
    {with_rope("\"linear\""), "rope_scaling must be an object, got \"linear\""},
    {with_rope("[]"), "rope_scaling must be an object, got a list"},
    {with_rope(R"({"type": "cubic"})"),
     "rope_scaling.type: unknown rule 'cubic'; known: default, dynamic, linear, llama3, longrope, mrope, ntk, "
     "proportional, su, yarn"},
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
    {R"({"model_type": "mamba"})",
     "config.json: mamba has no attention (it is a state-space model): there are no positions to encode"},
    {R"({"model_type": "wav2vec2", "num_conv_pos_embeddings": 64})",
     "wav2vec2 gets positions from a convolution over 64 neighbouring frames (num_conv_pos_embeddings) in 16 groups; "
     "Locus does not express that yet"},
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
