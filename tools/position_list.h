// SPDX-License-Identifier: Apache-2.0
// Parses numbers and position lists of the command line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"
#include "locus/position_ids.h"

namespace locus::tools {

/// Parses a decimal integer. Error: any other text; `name` starts the message.
std::int64_t parse_integer(std::string_view name, std::string_view text);

/// Adds an option with such a number. CLI11's own conversion reads 010 as eight and ignores overflow.
template <class Integer>
CLI::Option* add_integer(CLI::App& command, const std::string& name, Integer& value, const std::string& meaning) {
  const auto keep = [&value, name](const std::string& text) { value = parse_integer(name, text); };
  return command.add_option_function<std::string>(name, keep, meaning)->type_name("INT");
}

/// Parses a real number. Error: any other text.
double parse_real(std::string_view name, std::string_view text);

/// Parses `3,5,2`; at least one number.
std::vector<std::int64_t> parse_integers(std::string_view name, std::string_view text);

/// Returns the parts between separators, with empty ones.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Parses positions and half-open ranges, `0,1,17`, `0:100`, `0:100:8`, `0:4,17,100:103`, or reads an integer .npy
/// file with shape [tokens], [batch, tokens] or [axes, batch, tokens]. Range: 1 to 2^26 ids, also negative ones; each
/// scheme checks its own range.
PositionIds parse_position_list(const std::string& text);

}  // namespace locus::tools
