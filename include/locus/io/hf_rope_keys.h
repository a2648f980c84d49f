// SPDX-License-Identifier: Apache-2.0
// What a config.json says about RoPE, collected and not yet interpreted: for those who look for contradictions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace locus::io {

/// One rope block. Empty: the key is absent or of another type.
struct HfRopeBlockKeys {
  std::string path;  ///< `rope_scaling`, `text_config.rope_parameters.full_attention`
  std::optional<std::string> rope_type, type;
  std::optional<double> rope_theta, factor, original_length;
  std::optional<double> mscale, mscale_all_dim, attention_factor;
};

struct HfRopeKeys {
  std::string path;  ///< of the text model: empty, or `text_config.`
  std::optional<double> rope_theta, original_length, max_length;
  std::vector<HfRopeBlockKeys> scaling;     ///< rope_scaling: one block, or one per kind of layer
  std::vector<HfRopeBlockKeys> parameters;  ///< rope_parameters, the name since transformers 5
};

/// Throws locus::Error for what is no JSON object, as resolve_hf_config does; keys of a wrong type are left out.
HfRopeKeys collect_hf_rope_keys(std::string_view json_text, const std::string& name);

}  // namespace locus::io
