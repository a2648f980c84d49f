// SPDX-License-Identifier: Apache-2.0
// JSON that describes bytes: bounded, and no key may come twice, for readers disagree about which one counts.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace locus::io {

/// Throws locus::Error for anything but one JSON object of bounded size and depth with distinct keys. `name` starts the
/// message.
nlohmann::json parse_strict_json(std::string_view text, const std::string& name);

}  // namespace locus::io
