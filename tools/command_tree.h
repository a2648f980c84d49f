// SPDX-License-Identifier: Apache-2.0
// The declared commands and options, from which completions and the manual are generated.
#pragma once

#include <string>
#include <vector>

#include "command.h"

namespace locus::tools {

struct OptionEntry {
  std::vector<std::string> names;  ///< "-o", "--output"; for a positional, its name
  std::string meaning;
  std::string value;                 ///< "TEXT", "INT"; empty: a flag
  std::vector<std::string> choices;  ///< accepted words; empty: any
  bool positional = false;
  bool required = false;
};

struct CommandEntry {
  std::string name;
  std::string group;
  std::string meaning;
  std::string footer;
  std::vector<OptionEntry> options;
  std::vector<CommandEntry> commands;
};

/// Collects the commands of `app`. Commands and options without a group are hidden and omitted.
CommandEntry command_tree(const CLI::App& app);

}  // namespace locus::tools
