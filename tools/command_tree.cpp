// SPDX-License-Identifier: Apache-2.0
#include "command_tree.h"

#include "locus/registry.h"
#include "locus/scaling.h"
#include "position_list.h"

namespace locus::tools {
namespace {

/// CLI11 shows a choice as `TEXT:{half,interleaved}`. Encodings begin with the name of a scheme or rule.
std::vector<std::string> choices_of(const std::string& type) {
  std::vector<std::string> choices;
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open != std::string::npos && close != std::string::npos) {
    for (const std::string_view word : split(std::string_view(type).substr(open + 1, close - open - 1), ',')) {
      choices.emplace_back(word);
    }
  } else if (type == "ENCODING") {
    for (const Scheme* scheme : schemes()) choices.emplace_back(scheme->name);
    for (const Rule* rule : rules()) choices.emplace_back(rule->name);
  }
  return choices;
}

OptionEntry option_entry(const CLI::Option& option) {
  OptionEntry entry{.names = {}, .meaning = option.get_description(), .value = {}, .choices = {}};
  entry.positional = option.get_positional();
  entry.required = option.get_required();
  if (entry.positional) entry.names.push_back(option.get_name(true, false));
  for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  if (option.get_type_size() != 0) {
    const std::string type = option.get_type_name();
    entry.choices = choices_of(type);
    entry.value = type.substr(0, type.find(':'));
  }
  return entry;
}

}  // namespace

CommandEntry command_tree(const CLI::App& app) {
  CommandEntry entry{.name = app.get_name(),
                     .group = app.get_group(),
                     .meaning = app.get_description(),
                     .footer = app.get_footer(),
                     .options = {},
                     .commands = {}};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) entry.options.push_back(option_entry(*option));
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    if (!command->get_group().empty()) entry.commands.push_back(command_tree(*command));
  }
  return entry;
}

}  // namespace locus::tools
