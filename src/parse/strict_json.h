// SPDX-License-Identifier: Apache-2.0
// JSON that describes bytes: bounded, and without duplicate keys, because readers disagree about which one counts.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace locus::io {

/// Parses one JSON object.
/// Error: any other text, an object beyond the limits of size and depth, duplicate keys; `name` starts the message.
nlohmann::json parse_strict_json(std::string_view text, const std::string& name);

}  // namespace locus::io
