// SPDX-License-Identifier: Apache-2.0
// Runs a command line with a set of subcommands and turns errors into one line and an exit code.
#pragma once

#include <vector>

#include "command.h"

namespace locus::tools {

/// Subcommands under one heading of the help. An empty name: each chooses its own.
struct CommandGroup {
  std::string name;
  std::vector<void (*)(CLI::App&)> commands;
};

/// Parses and runs a command line; `argv[0]` is ignored. Returns 0, 1 if a check failed, 2 for bad input.
int run_commands(const std::vector<CommandGroup>& groups, int argc, const char* const* argv);

}  // namespace locus::tools
