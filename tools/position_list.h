// SPDX-License-Identifier: Apache-2.0
// Numbers and position lists as users type them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"
#include "locus/position_ids.h"

namespace locus::tools {

/// A whole decimal number and nothing else; `name` appears in messages.
std::int64_t parse_integer(std::string_view name, std::string_view text);

/// An option that takes such a number, into an integer or an optional one. CLI11's own conversion reads 010 as eight
/// and lets overflow pass.
template <class Integer>
CLI::Option* add_integer(CLI::App& command, const std::string& name, Integer& value, const std::string& meaning) {
  const auto keep = [&value, name](const std::string& text) { value = parse_integer(name, text); };
  return command.add_option_function<std::string>(name, keep, meaning)->type_name("INT");
}

/// A real number, all of the text.
double parse_real(std::string_view name, std::string_view text);

/// `3,5,2`; at least one number.
std::vector<std::int64_t> parse_integers(std::string_view name, std::string_view text);

/// The parts between separators, empty ones included.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Positions and half-open ranges, `0,1,17`, `0:100`, `0:100:8`, `0:4,17,100:103`, or the path of an integer .npy file
/// with shape [tokens], [batch, tokens] or [axes, batch, tokens]. Between 1 and 2^26 ids; negative ones are allowed,
/// for the range of valid positions is each scheme's own.
PositionIds parse_position_list(const std::string& text);

}  // namespace locus::tools
