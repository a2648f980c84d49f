// SPDX-License-Identifier: Apache-2.0
// The table of model types. Unless a row says otherwise its values were read in transformers 5.16 (commit d56c55bf):
// pairing in models/*/modeling_*.py, the rest in models/*/configuration_*.py. How to tell the pairing there:
//   half             rotate_half splits at shape[-1] // 2, or torch.chunk(x, 2) (gpt_oss)
//   interleaved      x[..., 0::2] and x[..., 1::2], or view_as_complex (deepseek_v2, llama4)
//   deinterleaving   apply_rotary_pos_emb_interleave
// Rows marked "remote" belong to models whose code is outside transformers; they follow common knowledge.
#include "io/hf_models.h"

#include <algorithm>
#include <array>

namespace locus::io {
namespace {

constexpr auto interleaved = HfPairing::interleaved;
constexpr auto deinterleaving = HfPairing::deinterleaving;

constexpr std::string_view gpt_oss_block =
    R"({"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": false,
        "original_max_position_embeddings": 4096})";
constexpr std::string_view gemma4_block =
    R"({"sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
        "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1000000.0}})";

// clang-format off
const auto models = std::to_array<HfModel>({
    // RoPE, interleaved pairs
    {.name = "blt", .pairing = interleaved, .base = 500000},
    {.name = "chatglm", .pairing = interleaved, .rotary_fraction = 0.5},  // remote
    {.name = "codegen", .pairing = interleaved, .rotary_dim = 64},
    {.name = "cohere", .pairing = interleaved, .base = 500000},
    {.name = "cohere2", .pairing = interleaved, .layers = HfLayers::sliding_only},
    {.name = "cohere2_moe", .pairing = interleaved, .layers = HfLayers::sliding_only},
    {.name = "deepseek_v2", .pairing = interleaved, .head_dim = 64},
    {.name = "deepseek_v4", .pairing = interleaved, .head_dim = 512, .rotary_fraction = 0.125, .rotates_last = true},
    {.name = "ernie4_5", .pairing = interleaved, .base = 500000, .head_dim = 128},
    {.name = "ernie4_5_moe", .pairing = interleaved, .base = 500000},
    {.name = "ernie4_5_vl_moe", .pairing = interleaved, .base = 500000, .axes = "own"},
    {.name = "glm", .pairing = interleaved, .head_dim = 128, .rotary_fraction = 0.5},
    {.name = "glm4", .pairing = interleaved, .head_dim = 128, .rotary_fraction = 0.5},
    {.name = "glm4v", .pairing = interleaved, .axes = "mrope", .sections = {8, 12, 12}},
    {.name = "glm_ocr", .pairing = interleaved, .axes = "mrope", .sections = {8, 12, 12}},
    {.name = "gptj", .pairing = interleaved, .rotary_dim = 64},
    {.name = "helium", .pairing = interleaved, .base = 100000, .head_dim = 128},
    {.name = "llama4", .pairing = interleaved, .layers = HfLayers::some_without, .base = 500000, .head_dim = 128},
    {.name = "moonshine", .pairing = interleaved, .rotary_fraction = 0.9},
    {.name = "openai_privacy_filter", .pairing = interleaved, .base = 150000, .head_dim = 64},
    {.name = "roformer", .pairing = interleaved},

    // RoPE, interleaved in and [evens | odds] out
    {.name = "axk1", .pairing = deinterleaving, .head_dim = 64},
    {.name = "axk2", .pairing = deinterleaving, .head_dim = 64},
    {.name = "deepseek_v3", .pairing = deinterleaving, .head_dim = 64},
    {.name = "deepseek_v32", .pairing = deinterleaving, .head_dim = 64},
    {.name = "glm4_moe_lite", .pairing = deinterleaving, .head_dim = 64},
    {.name = "glm_moe_dsa", .pairing = deinterleaving, .head_dim = 64},
    {.name = "kimi_k2", .pairing = deinterleaving, .head_dim = 64},  // remote
    {.name = "longcat_flash", .pairing = deinterleaving, .base = 10000000, .head_dim = 64},
    {.name = "mistral4", .pairing = deinterleaving, .head_dim = 64},
    {.name = "youtu", .pairing = deinterleaving, .head_dim = 64},

    // RoPE, half, with something the file may leave out
    {.name = "apertus", .base = 12000000},
    {.name = "bamba", .rotary_fraction = 0.5},
    {.name = "bitnet", .base = 500000},
    {.name = "csm", .base = 500000},
    {.name = "cwm", .base = 1000000, .head_dim = 128},
    {.name = "dinov3_vit", .base = 100, .axes = "dinov3"},
    {.name = "emu3", .base = 1000000},
    {.name = "evolla", .base = 500000},
    {.name = "exaone4", .layers = HfLayers::sliding_only},
    {.name = "falcon", .family = HfFamily::falcon},
    {.name = "flex_olmo", .base = 500000},
    {.name = "fuyu", .base = 25000, .rotary_fraction = 0.5},
    {.name = "gemma", .head_dim = 256},
    {.name = "gemma2", .head_dim = 256},
    {.name = "gemma3", .layers = HfLayers::own_bases, .base = 1000000, .head_dim = 256},
    {.name = "gemma3n", .layers = HfLayers::own_bases, .base = 1000000, .head_dim = 256},
    {.name = "gemma4", .head_dim = 256, .global_head_dim = 512, .rope_block = gemma4_block},
    {.name = "glm4_moe", .rotary_fraction = 0.5},
    {.name = "glm4v_moe", .rotary_fraction = 0.5, .axes = "mrope", .sections = {8, 12, 12}},
    {.name = "gpt_neox", .rotary_fraction = 0.25},
    {.name = "gpt_oss", .base = 150000, .head_dim = 64, .rope_block = gpt_oss_block},
    {.name = "hy_v3", .base = 11158840, .head_dim = 128},
    {.name = "jina_embeddings_v3", .base = 20000},
    {.name = "lfm2", .base = 1000000},
    {.name = "lfm2_moe", .base = 1000000},
    {.name = "llama", .hidden_size = 4096, .heads = 32},
    {.name = "minimax", .base = 1000000},
    {.name = "minimax_m2", .base = 5000000, .head_dim = 128},
    {.name = "ministral3", .head_dim = 128},
    {.name = "mistral", .hidden_size = 4096, .heads = 32},
    {.name = "mixtral", .base = 1000000, .hidden_size = 4096, .heads = 32},
    {.name = "mllama", .base = 500000},
    {.name = "modernbert", .layers = HfLayers::own_bases, .base = 160000},
    {.name = "modernbert-decoder", .layers = HfLayers::own_bases, .base = 160000},
    {.name = "nemotron", .rotary_fraction = 0.5},
    {.name = "nomic_bert", .base = 1000},
    {.name = "olmo3", .layers = HfLayers::sliding_unscaled, .base = 500000},
    {.name = "paddleocr_vl", .base = 500000, .head_dim = 128},
    {.name = "persimmon", .rotary_fraction = 0.5},
    {.name = "phi", .rotary_fraction = 0.5},
    {.name = "phi3", .original_length = 4096},
    {.name = "phi4_multimodal", .original_length = 4096},
    {.name = "phimoe", .base = 1000000},
    {.name = "pixtral", .axes = "pixtral"},
    {.name = "qwen2", .hidden_size = 4096, .heads = 32},
    {.name = "qwen2_5_omni", .base = 1000000},
    {.name = "qwen2_5_vl", .base = 1000000},
    {.name = "qwen2_vl", .base = 1000000},
    {.name = "qwen3", .head_dim = 128},
    {.name = "qwen3_5", .head_dim = 256, .rotary_fraction = 0.25, .axes = "mrope_interleaved", .sections = {11, 11, 10}},
    {.name = "qwen3_5_moe", .head_dim = 256, .rotary_fraction = 0.25, .axes = "mrope_interleaved", .sections = {11, 11, 10}},
    {.name = "qwen3_next", .head_dim = 256, .rotary_fraction = 0.25},
    {.name = "qwen3_omni_moe", .base = 1000000, .axes = "mrope_interleaved", .sections = {24, 20, 20}},
    {.name = "qwen3_vl", .base = 500000, .head_dim = 128, .axes = "mrope_interleaved", .sections = {24, 20, 20}},
    {.name = "qwen3_vl_moe", .base = 500000, .axes = "mrope_interleaved", .sections = {24, 20, 20}},
    {.name = "recurrent_gemma", .rotary_fraction = 0.5},
    {.name = "seed_oss", .head_dim = 128},
    {.name = "smollm3", .layers = HfLayers::some_without, .base = 2000000},
    {.name = "solar_open", .base = 1000000, .head_dim = 128},
    {.name = "stablelm", .rotary_fraction = 0.25},
    {.name = "vaultgemma", .head_dim = 256},

    // RoPE, half, nothing else to know
    {.name = "arcee"}, {.name = "aria"}, {.name = "chameleon"}, {.name = "cosmos3_edge", .axes = "mrope_interleaved"},
    {.name = "dbrx"}, {.name = "diffllama"}, {.name = "doge"}, {.name = "dots1"}, {.name = "eurobert"},
    {.name = "exaone_moe"}, {.name = "falcon_h1"}, {.name = "gpt_neox_japanese"}, {.name = "granite"},
    {.name = "granitemoe"}, {.name = "granitemoehybrid"}, {.name = "granitemoeshared"}, {.name = "hunyuan_v1_dense"},
    {.name = "hunyuan_v1_moe"}, {.name = "hyperclovax"}, {.name = "jais2"}, {.name = "jetmoe"}, {.name = "minicpm3"},
    {.name = "ministral"}, {.name = "moshi"}, {.name = "olmo"}, {.name = "olmo2"}, {.name = "olmoe"},
    {.name = "qwen2_moe"}, {.name = "qwen3_moe"}, {.name = "starcoder2"},

    // biases on the scores
    {.name = "baichuan", .family = HfFamily::baichuan},         // remote
    {.name = "RefinedWeb", .family = HfFamily::falcon},         // remote: the first name of falcon
    {.name = "RefinedWebModel", .family = HfFamily::falcon},    // remote
    {.name = "bloom", .family = HfFamily::bloom},
    {.name = "mpt", .family = HfFamily::mpt},
    {.name = "t5", .family = HfFamily::t5},
    {.name = "mt5", .family = HfFamily::t5},
    {.name = "umt5", .family = HfFamily::t5},
    {.name = "longt5", .family = HfFamily::t5},
    {.name = "switch_transformers", .family = HfFamily::t5},

    // added to the hidden state
    {.name = "albert", .family = HfFamily::learned},
    {.name = "bart", .family = HfFamily::learned, .row_offset = HfRowOffset::two},
    {.name = "bert", .family = HfFamily::learned},
    {.name = "biogpt", .family = HfFamily::learned, .row_offset = HfRowOffset::two},
    {.name = "camembert", .family = HfFamily::learned, .row_offset = HfRowOffset::after_padding},
    {.name = "electra", .family = HfFamily::learned},
    {.name = "esm", .family = HfFamily::learned, .row_offset = HfRowOffset::after_padding},
    {.name = "gpt2", .family = HfFamily::learned},
    {.name = "gpt_bigcode", .family = HfFamily::learned},
    {.name = "gpt_neo", .family = HfFamily::learned},
    {.name = "mbart", .family = HfFamily::learned, .row_offset = HfRowOffset::two},
    {.name = "openai-gpt", .family = HfFamily::learned},
    {.name = "opt", .family = HfFamily::learned, .row_offset = HfRowOffset::two},
    {.name = "roberta", .family = HfFamily::learned, .row_offset = HfRowOffset::after_padding},
    {.name = "xlm-roberta", .family = HfFamily::learned, .row_offset = HfRowOffset::after_padding},
    {.name = "ctrl", .family = HfFamily::sinusoidal},
    {.name = "marian", .family = HfFamily::sinusoidal},
    {.name = "pegasus", .family = HfFamily::sinusoidal},
    {.name = "distilbert", .family = HfFamily::xlm},
    {.name = "flaubert", .family = HfFamily::xlm},
    {.name = "xlm", .family = HfFamily::xlm},
    {.name = "whisper", .family = HfFamily::whisper},

    {.name = "jamba", .family = HfFamily::nope},
});
// clang-format on

const HfModel* find_exactly(std::string_view name) {
  const auto found = std::find_if(models.begin(), models.end(), [&](const HfModel& row) { return row.name == name; });
  return found == models.end() ? nullptr : &*found;
}

}  // namespace

const HfModel* find_hf_model(std::string_view model_type) {
  if (const HfModel* exact = find_exactly(model_type)) return exact;
  for (const std::string_view suffix : {"_text", "_text_model"}) {
    if (model_type.ends_with(suffix)) return find_exactly(model_type.substr(0, model_type.size() - suffix.size()));
  }
  return nullptr;
}

}  // namespace locus::io
