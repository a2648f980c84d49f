// SPDX-License-Identifier: Apache-2.0
// `locus man`: prints the manual page, generated from the declarations of the commands, in the roff of man(7).
#include <iostream>

#include "command_tree.h"
#include "locus/text.h"

namespace locus::tools {
namespace {

/// Escapes dashes, backslashes and lines that would begin with a roff command.
std::string roff(const std::string& text) {
  std::string result;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    line_start = c == '\n';
  }
  return result;
}

void print_option(const OptionEntry& option) {
  std::cout << ".TP\n"
            << joined(option.names, ", ", [](const std::string& name) { return "\\fB" + roff(name) + "\\fR"; });
  if (!option.value.empty() && !option.positional) std::cout << " \\fI" << roff(option.value) << "\\fR";
  std::cout << '\n' << roff(option.meaning);
  if (option.required) std::cout << " (required)";
  if (!option.choices.empty() && option.value != "ENCODING") {
    std::cout << ". One of: " << roff(joined(option.choices));
  }
  std::cout << ".\n";
}

void print_command(const CommandEntry& command, const std::string& path) {
  std::cout << ".SS locus " << roff(path) << '\n' << roff(command.meaning) << ".\n";
  for (const OptionEntry& option : command.options) {
    if (option.names.back() != "--help" && option.names.back() != "--help-all") print_option(option);
  }
  if (!command.footer.empty()) std::cout << ".PP\n.nf\n" << roff(command.footer) << "\n.fi\n";
  for (const CommandEntry& below : command.commands) print_command(below, path + " " + below.name);
}

void print_manual(const CommandEntry& root) {
  std::cout << ".TH LOCUS 1 \"\" \"Locus " << LOCUS_VERSION << "\" \"User Commands\"\n"
            << ".SH NAME\nlocus \\- positional encodings for transformers\n"
            << ".SH SYNOPSIS\n.B locus\n.I COMMAND\n[\\fIOPTIONS\\fR]\n"
            << ".SH DESCRIPTION\n"
            << roff(root.meaning) << '\n'
            << ".PP\nEvery command has \\fB\\-\\-help\\fR.\n"
            << ".SH COMMANDS\n";
  for (const CommandEntry& command : root.commands) print_command(command, command.name);
  std::cout << ".SH EXIT STATUS\n"
               ".TP\n0\nThe command succeeded.\n"
               ".TP\n1\nA check failed.\n"
               ".TP\n2\nThe input was refused; one line on standard error names the fault.\n";
}

}  // namespace

void add_man_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("man", "Print the manual page");
  command->group("");  // packages install its output
  command->footer("Example: locus man | man -l -");
  command->callback([&app] { print_manual(command_tree(app)); });
}

}  // namespace locus::tools
