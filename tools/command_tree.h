// SPDX-License-Identifier: Apache-2.0
// The commands and options as they are declared, for what is generated from them: completions and the manual.
#pragma once

#include <string>
#include <vector>

#include "command.h"

namespace locus::tools {

struct OptionEntry {
  std::vector<std::string> names;  ///< "-o", "--output"; of a positional its name alone
  std::string meaning;
  std::string value;                 ///< "TEXT", "INT"; empty: a flag
  std::vector<std::string> choices;  ///< the words it takes; empty: anything
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

/// Walks `app`. Commands and options without a group are hidden and left out.
CommandEntry command_tree(const CLI::App& app);

}  // namespace locus::tools
