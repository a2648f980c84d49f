// SPDX-License-Identifier: Apache-2.0
// Moves the RoPE settings of a config.json between its two layouts: flat keys (rope_theta, rope_scaling, ...), as written
// up to transformers 4, and rope_parameters, as written since transformers 5.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace locus::io {

enum class ConfigLayout : std::uint8_t { v4, v5 };

struct ConvertedConfig {
  std::string text;                ///< with the keys in the order of the file, indented by two
  std::vector<std::string> notes;  ///< what was moved, and what was written out that the file left to its class
};

/// Every model in the file is converted, nested ones too. What the file means stays: it is read again and compared.
/// Error where the flat layout cannot say it (blocks per layer type that differ in more than the base), and for files
/// that have no RoPE settings to move. `name` starts every message.
ConvertedConfig convert_config_layout(std::string_view json_text, ConfigLayout to, const std::string& name);

/// The same from file to file; `output` may be `input`.
std::vector<std::string> write_config_layout(const std::string& input, ConfigLayout to, const std::string& output);

}  // namespace locus::io
