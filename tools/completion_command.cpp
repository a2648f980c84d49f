// SPDX-License-Identifier: Apache-2.0
// `locus completion SHELL`: prints a script that completes commands, options and their words, generated from the
// declarations. Everything else completes to file names.
#include <functional>
#include <iostream>
#include <memory>

#include "command_tree.h"
#include "locus/text.h"

namespace locus::tools {
namespace {

/// Calls `visit` with every command and its path: `probe loss`, and the empty path for `locus` itself.
void visit_commands(const CommandEntry& command, const std::string& path,
                    const std::function<void(const CommandEntry& command, const std::string& path)>& visit) {
  visit(command, path);
  for (const CommandEntry& below : command.commands) {
    visit_commands(below, path.empty() ? below.name : path + " " + below.name, visit);
  }
}

/// Quotes the text with single quotes for all three shells.
std::string in_quotes(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c == '\n' ? ' ' : c;
    }
  }
  return result + "'";
}

std::vector<std::string> words_after(const CommandEntry& command) {
  std::vector<std::string> words;
  for (const CommandEntry& below : command.commands) words.push_back(below.name);
  for (const OptionEntry& option : command.options) {
    if (!option.positional) words.insert(words.end(), option.names.begin(), option.names.end());
  }
  return words;
}

void print_bash(const CommandEntry& root) {
  std::cout << "# bash completion of locus, made by `locus completion bash`\n"
               "_locus() {\n"
               "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
               "  local path='' word i words=''\n"
               "  COMPREPLY=()\n"
               "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
               "    word=${COMP_WORDS[i]}\n"
               "    case \"$path $word\" in\n";
  visit_commands(root, "", [](const CommandEntry& command, const std::string& path) {
    for (const CommandEntry& below : command.commands) {
      std::cout << "      " << in_quotes(path + " " + below.name)
                << ") path=" << in_quotes(path.empty() ? below.name : path + " " + below.name) << " ;;\n";
    }
  });
  std::cout << "    esac\n"
               "  done\n"
               "  case \"$path:$previous\" in\n";
  visit_commands(root, "", [](const CommandEntry& command, const std::string& path) {
    for (const OptionEntry& option : command.options) {
      if (option.positional || option.value.empty()) continue;
      const std::string pattern =
          joined(option.names, "|", [&](const std::string& name) { return in_quotes(path + ":" + name); });
      std::cout << "    " << pattern << ") ";
      if (option.choices.empty()) {
        std::cout << "compopt -o default 2>/dev/null; return ;;\n";
      } else {
        std::cout << "COMPREPLY=($(compgen -W " << in_quotes(joined(option.choices, " "))
                  << " -- \"$current\")); return ;;\n";
      }
    }
  });
  std::cout << "  esac\n"
               "  case \"$path\" in\n";
  visit_commands(root, "", [](const CommandEntry& command, const std::string& path) {
    std::cout << "    " << in_quotes(path) << ") words=" << in_quotes(joined(words_after(command), " ")) << " ;;\n";
  });
  std::cout << "  esac\n"
               "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
               "  [[ ${#COMPREPLY[@]} -gt 0 ]] || compopt -o default 2>/dev/null\n"
               "}\n"
               "complete -F _locus locus\n";
}

/// Escapes square brackets and colons, which are special in _arguments and _describe.
std::string zsh_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_function(const std::string& path) {
  std::string name = path.empty() ? "_locus" : "_locus_" + path;
  for (char& c : name) {
    if (c == ' ' || c == '-') c = '_';
  }
  return name;
}

void print_zsh_option(const OptionEntry& option) {
  for (const std::string& name : option.names) {
    std::string spec = "*" + name + "[" + zsh_text(option.meaning) + "]";
    if (!option.value.empty()) {
      spec += ":" + zsh_text(option.value) + ":";
      spec += option.choices.empty() ? "_files" : "(" + joined(option.choices, " ") + ")";
    }
    std::cout << "    " << in_quotes(spec) << " \\\n";
  }
}

void print_zsh(const CommandEntry& root) {
  std::cout << "#compdef locus\n# zsh completion of locus, made by `locus completion zsh`\n";
  visit_commands(root, "", [](const CommandEntry& command, const std::string& path) {
    std::cout << '\n' << zsh_function(path) << "() {\n  local context state line\n  _arguments -C \\\n";
    for (const OptionEntry& option : command.options) {
      if (!option.positional) print_zsh_option(option);
    }
    if (command.commands.empty()) {
      std::cout << "    '*:file:_files'\n}\n";
      return;
    }
    std::cout << "    '1:command:->command' \\\n    '*::argument:->argument'\n  case $state in\n    command)\n"
              << "      local -a commands=(\n";
    for (const CommandEntry& below : command.commands) {
      std::cout << "        " << in_quotes(zsh_text(below.name) + ":" + zsh_text(below.meaning)) << '\n';
    }
    std::cout << "      )\n      _describe command commands ;;\n    argument)\n      case $line[1] in\n";
    for (const CommandEntry& below : command.commands) {
      std::cout << "        " << below.name << ") " << zsh_function(path.empty() ? below.name : path + " " + below.name)
                << " ;;\n";
    }
    std::cout << "      esac ;;\n  esac\n}\n";
  });
  std::cout << "\n_locus \"$@\"\n";
}

void print_fish(const CommandEntry& root) {
  std::cout << "# fish completion of locus, made by `locus completion fish`\n";
  visit_commands(root, "", [](const CommandEntry& command, const std::string& path) {
    std::string condition;
    if (path.empty()) {
      condition = "__fish_use_subcommand";
    } else {
      std::istringstream words(path);
      for (std::string word; words >> word;) {
        condition += (condition.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + word);
      }
    }
    const std::string prefix = "complete -c locus -n " + in_quotes(condition);
    for (const CommandEntry& below : command.commands) {
      std::cout << prefix << " -f -a " << in_quotes(below.name) << " -d " << in_quotes(below.meaning) << '\n';
    }
    for (const OptionEntry& option : command.options) {
      if (option.positional) continue;
      std::cout << prefix;
      for (const std::string& name : option.names) {
        std::cout << (name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1));
      }
      if (!option.value.empty()) std::cout << (option.choices.empty() ? " -r -F" : " -x -a ");
      if (!option.choices.empty()) std::cout << in_quotes(joined(option.choices, " "));
      std::cout << " -d " << in_quotes(option.meaning) << '\n';
    }
  });
}

}  // namespace

void add_completion_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for a shell");
  command->group("");  // packages install its output
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "Shell: bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer("Example: source <(locus completion bash)");
  command->callback([&app, shell] {
    const CommandEntry root = command_tree(app);
    if (*shell == "bash") print_bash(root);
    if (*shell == "zsh") print_zsh(root);
    if (*shell == "fish") print_fish(root);
  });
}

}  // namespace locus::tools
