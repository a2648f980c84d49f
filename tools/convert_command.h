// SPDX-License-Identifier: Apache-2.0
// Shared by the subcommands of `locus convert`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace locus::tools {

/// The destination of a conversion: exactly one of the two must be given.
struct Destination {
  std::string output;
  bool in_place = false;
};
void add_destination(CLI::App& command, Destination& destination, const std::string& meaning);

void add_convert_rope_commands(CLI::App& convert);

}  // namespace locus::tools
