// SPDX-License-Identifier: Apache-2.0
// llama.cpp's names for the model types of transformers, and how it writes their settings.
#pragma once

#include <cmath>
#include <optional>
#include <string_view>

#include "locus/scaling.h"

namespace locus::io {

/// Returns the architecture of a model type, if known. A model type such as `gemma3_text` counts as `gemma3`.
std::optional<std::string_view> architecture_of(std::string_view model_type);
/// Returns the most common model type of an architecture.
std::optional<std::string_view> model_type_of(std::string_view architecture);

/// Returns the rule that rope.scaling.type names. Error: an unknown one; `where` starts the message.
const Rule& rule_of_gguf(std::string_view type, std::string_view where);

/// DeepSeek's files hold a tenth of mscale_all_dim, for historical reasons; all others hold its value.
inline double log_multiplier_per_mscale(std::string_view architecture) {
  return architecture == "deepseek2" ? 0.1 : 1.0;
}

/// True if heads have a separate rotary part (qk_rope_head_dim).
inline bool has_latent_attention(std::string_view architecture) { return architecture == "deepseek2"; }

/// Returns what llama.cpp's converter writes for longrope: sqrt(1 + ln(scale) / ln(original)), 1 without extension.
inline double longrope_attention_factor(double scale, double original) {
  return scale > 1 && original > 1 ? std::sqrt(1 + std::log(scale) / std::log(original)) : 1;
}

}  // namespace locus::io
