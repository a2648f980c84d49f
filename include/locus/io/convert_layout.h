// SPDX-License-Identifier: Apache-2.0
// Moves the RoPE settings of a config.json between its two layouts: flat keys (rope_theta, rope_scaling, ...) of
// transformers up to 4, and rope_parameters since transformers 5.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace locus::io {

enum class ConfigLayout : std::uint8_t { v4, v5 };

struct ConvertedConfig {
  std::string text;                ///< keys in the order of the file, indented by two
  std::vector<std::string> notes;  ///< what was moved, and which class defaults were written out
};

/// Converts every model in the file, nested ones too. Reads the result and checks that its meaning is unchanged.
/// `name` starts every message.
/// Error: settings that the flat layout cannot express (blocks per layer type that differ in more than the base),
/// files without RoPE settings.
ConvertedConfig convert_config_layout(std::string_view json_text, ConfigLayout to, const std::string& name);

/// Converts a file and returns the notes. `output` may be `input`.
std::vector<std::string> write_config_layout(const std::string& input, ConfigLayout to, const std::string& output);

}  // namespace locus::io
