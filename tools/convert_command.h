// SPDX-License-Identifier: Apache-2.0
// `locus convert` has subcommands of its own; what they share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace locus::tools {

/// Where a conversion goes: exactly one of the two must be given.
struct Destination {
  std::string output;
  bool in_place = false;
};
void add_destination(CLI::App& command, Destination& destination, const std::string& meaning);

void add_convert_rope_commands(CLI::App& convert);

}  // namespace locus::tools
