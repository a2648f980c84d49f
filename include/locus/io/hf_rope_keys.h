// SPDX-License-Identifier: Apache-2.0
// Collects what a config.json says about RoPE, without interpreting it, so that lint can find contradictions.
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
  std::vector<HfRopeBlockKeys> scaling;     ///< rope_scaling: one block, or one per layer type
  std::vector<HfRopeBlockKeys> parameters;  ///< rope_parameters, the name since transformers 5
};

/// Collects the keys. Omits keys of a wrong type.
/// Error: text that is no JSON object, as in resolve_hf_config().
HfRopeKeys collect_hf_rope_keys(std::string_view json_text, const std::string& name);

}  // namespace locus::io
