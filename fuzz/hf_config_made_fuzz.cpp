// SPDX-License-Identifier: Apache-2.0
// config.json files of many families with RoPE settings in both layouts, and the conversion to GGUF.
#include "checks.h"
#include "made_json.h"

namespace {

using namespace locus::fuzz;

constexpr std::string_view families[] = {
    "llama",      "qwen2_vl", "gemma3_text", "phi3",     "gpt_neox", "gptj",         "deepseek_v3", "mistral",
    "bloom",      "mpt",      "t5",          "roberta",  "gpt2",     "opt",          "whisper",     "transfo-xl",
    "deberta-v2", "swinv2",   "vit",         "wav2vec2", "llama4",   "qwen2_5_omni", "falcon",      "ministral3",
    "gpt_oss",    "cohere2",  "modernbert",  "chatglm",  "ernie4_5", "xlnet",        "nobody"};
constexpr std::string_view rules[] = {"default", "linear",       "dynamic", "yarn", "longrope", "llama3",
                                      "ntk",     "proportional", "mrope",   "su",   "other"};
constexpr std::string_view rule_numbers[] = {
    "factor",    "rope_theta", "low_freq_factor", "high_freq_factor", "attention_factor",
    "beta_fast", "beta_slow",  "mscale",          "mscale_all_dim",   "partial_rotary_factor"};
constexpr std::string_view sizes[] = {"hidden_size",
                                      "num_attention_heads",
                                      "num_key_value_heads",
                                      "head_dim",
                                      "num_hidden_layers",
                                      "max_position_embeddings",
                                      "rotary_dim",
                                      "n_embd",
                                      "n_head",
                                      "d_model",
                                      "d_kv",
                                      "num_heads",
                                      "relative_attention_num_buckets",
                                      "qk_rope_head_dim",
                                      "qk_nope_head_dim",
                                      "sliding_window",
                                      "sliding_window_pattern",
                                      "image_size",
                                      "patch_size",
                                      "position_buckets",
                                      "window_size"};
constexpr std::string_view others[] = {"rope_theta",
                                       "rotary_pct",
                                       "partial_rotary_factor",
                                       "rope_local_base_freq",
                                       "alibi",
                                       "position_embedding_type",
                                       "is_decoder",
                                       "tie_word_embeddings",
                                       "attn_config",
                                       "no_rope_layers",
                                       "layer_types",
                                       "use_cache",
                                       "torch_dtype",
                                       "attn_temperature_tuning",
                                       "relative_attention",
                                       "pos_att_type"};
constexpr std::string_view layer_types[] = {"full_attention", "sliding_attention", "linear_attention",
                                            "chunked_attention"};
constexpr std::int64_t widths[] = {64, 128, 32, 96, 8, 4, 2, 1, 0, 256, 4096, 7};

Json numbers(Choices& choices, std::size_t count) {
  Json list = Json::array();
  for (std::size_t i = 0; i < count; ++i) list.push_back(choices.real());
  return list;
}

Json made_rule(Choices& choices) {
  Json rule = {{choices.flag() ? "type" : "rope_type", choices.of(rules)}, {"factor", 4.0}};
  for (std::size_t i = choices.below(6); i > 0; --i) rule[std::string(choices.of(rule_numbers))] = choices.real();
  if (choices.flag()) rule["original_max_position_embeddings"] = choices.of(widths);
  if (choices.below(4) == 3) rule["mrope_section"] = {choices.below(40), choices.below(40), choices.below(40)};
  if (choices.below(4) == 3) {
    rule["long_factor"] = numbers(choices, choices.below(40));
    rule["short_factor"] = numbers(choices, choices.below(40));
  }
  if (choices.below(8) == 7) rule["truncate"] = choices.flag();
  return rule;
}

Json made_part(Choices& choices, int depth) {
  Json config = {{"model_type", choices.of(families)}, {"hidden_size", 64}, {"num_attention_heads", 4}};
  for (std::size_t i = choices.below(8); i > 0; --i) {
    config[std::string(choices.of(sizes))] = choices.fault() ? choices.integer() : choices.of(widths);
  }
  for (std::size_t i = choices.below(5); i > 0; --i) config[std::string(choices.of(others))] = any_json(choices);
  switch (choices.below(4)) {
    case 1:
      config["rope_scaling"] = made_rule(choices);
      break;
    case 2:
      config["rope_parameters"] = made_rule(choices);
      break;
    case 3:
      for (const std::string_view type : layer_types) {
        if (choices.flag()) config["rope_parameters"][std::string(type)] = made_rule(choices);
      }
      break;
    default:
      break;
  }
  if (choices.flag()) {
    config["layer_types"] = Json::array();
    for (std::size_t i = choices.below(6); i > 0; --i) config["layer_types"].push_back(choices.of(layer_types));
  }
  if (depth == 0 && choices.below(4) == 3) config["text_config"] = made_part(choices, 1);
  if (depth == 0 && choices.below(4) == 3) config["vision_config"] = made_part(choices, 1);
  return config;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  Json config = made_part(choices, 0);
  if (choices.fault()) vary(config, choices);
  const std::string text = text_of(config, choices);
  check_hf_config(text);
  check_rope_settings(bytes_of(text));
  return 0;
}
