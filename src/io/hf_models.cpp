// SPDX-License-Identifier: Apache-2.0
// The table of families: one row per model type, in families/*.inc. Each row names its source. Rows marked
// `transformers NAME` follow src/transformers/models/NAME of transformers 5.16 (commit d56c55bf): sizes and defaults
// from configuration_*.py, the pairing from modeling_*.py. How to recognize the pairing there:
//   half             rotate_half splits at shape[-1] // 2, or torch.chunk(x, 2) (gpt_oss)
//   interleaved      x[..., 0::2] and x[..., 1::2], or view_as_complex (deepseek_v2, llama4)
//   deinterleaving   apply_rotary_pos_emb_interleave
// In vLLM, is_neox_style=True is half. scripts/unknown_families.py lists families that a transformers tree has and this
// table does not.
#include "io/hf_models.h"

#include <algorithm>
#include <array>
#include <string>

namespace locus::io {
namespace {

constexpr auto interleaved = HfPairing::interleaved;
constexpr auto deinterleaving = HfPairing::deinterleaving;

// Defaults of the config classes for files without a rope block.
constexpr std::string_view apertus_block =
    R"({"rope_type": "llama3", "rope_theta": 12000000.0, "factor": 8.0, "original_max_position_embeddings": 8192,
        "low_freq_factor": 1.0, "high_freq_factor": 4.0})";
constexpr std::string_view cwm_block =
    R"({"rope_type": "llama3", "rope_theta": 1000000.0, "factor": 16.0, "original_max_position_embeddings": 8192,
        "low_freq_factor": 1.0, "high_freq_factor": 4.0})";
constexpr std::string_view higgs_block =
    R"({"rope_type": "llama3", "rope_theta": 500000.0, "factor": 32.0, "original_max_position_embeddings": 1024,
        "low_freq_factor": 0.125, "high_freq_factor": 0.5})";
constexpr std::string_view gpt_oss_block =
    R"({"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": false,
        "original_max_position_embeddings": 4096})";
constexpr std::string_view ministral3_block =
    R"({"rope_type": "yarn", "rope_theta": 1000000.0, "factor": 16.0, "original_max_position_embeddings": 16384,
        "beta_fast": 32.0, "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1})";
constexpr std::string_view mistral4_block =
    R"({"rope_type": "yarn", "rope_theta": 10000.0, "factor": 128.0, "original_max_position_embeddings": 8192,
        "beta_fast": 32.0, "beta_slow": 1.0, "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1})";
constexpr std::string_view gemma4_block =
    R"({"sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
        "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1000000.0}})";
constexpr std::string_view laguna_block =
    R"({"full_attention": {"rope_type": "default", "rope_theta": 500000.0, "partial_rotary_factor": 0.5},
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 1.0}})";
constexpr std::string_view mellum_block =
    R"({"full_attention": {"rope_type": "default", "rope_theta": 500000.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}})";
constexpr std::string_view mimo_v2_block =
    R"({"full_attention": {"rope_type": "default", "rope_theta": 5000000.0, "partial_rotary_factor": 0.334},
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.334}})";
constexpr std::string_view zaya_block =
    R"({"hybrid": {"rope_type": "default", "rope_theta": 5000000.0, "partial_rotary_factor": 0.5},
        "hybrid_sliding": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}})";

const auto models = std::to_array<HfModel>({
#include "io/families/rotary.inc"
// The order of the files does not matter: names are unique.
#include "io/families/composites.inc"
#include "io/families/detection.inc"
#include "io/families/images.inc"
#include "io/families/outside.inc"
#include "io/families/scores.inc"
#include "io/families/tables.inc"
#include "io/families/waves.inc"
#include "io/families/without.inc"
});

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

std::span<const HfModel> hf_models() { return models; }

}  // namespace locus::io
