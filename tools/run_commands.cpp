// SPDX-License-Identifier: Apache-2.0
#include "run_commands.h"

#include <iostream>
#include <new>

#include "failure.h"
#include "help_format.h"
#include "locus/error.h"
#include "terminal.h"

namespace locus::tools {

void print_json(const Json& object) {
  // File names may contain any bytes; JSON may not.
  std::cout << object.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

namespace {

/// `--color`, which every command takes, before or after its name.
void add_colour_option(CLI::App& app) {
  const auto set = [](const std::string& word) {
    use_colour(word == "always" ? Colour::always : word == "never" ? Colour::never : Colour::automatic);
  };
  app.add_option_function<std::string>("--color", set,
                                       "Colour drawings; auto (default): on a terminal, unless NO_COLOR")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.fallthrough();  // inherited by the commands
}

/// Adds the commands in the order and the groups of the help.
void add_commands(CLI::App& app, const std::vector<CommandGroup>& groups) {
  for (const CommandGroup& group : groups) {
    for (const auto add : group.commands) {
      add(app);
      if (!group.name.empty()) app.get_subcommands({}).back()->group(group.name);
    }
  }
}

}  // namespace

int run_commands(const std::vector<CommandGroup>& groups, int argc, const char* const* argv) {
  CLI::App app{"Positional encodings for transformers: inspect them, check yours, run them, measure them.", "locus"};
  app.formatter(wrapping_help());
  app.set_version_flag("--version", LOCUS_VERSION, "Print the version");
  app.require_subcommand(1);
  app.footer(
      "Each command has --help with examples.\n"
      "Example: locus show --scheme rope:head_dim=128,pairing=half --positions 0,1,17");
  app.set_help_flag("-h,--help", "Print this help");
  app.set_help_all_flag("--help-all", "Print the help of every command");
  add_colour_option(app);
  add_commands(app, groups);
  if (argc == 1) {
    std::cout << app.help();
    return 0;
  }
  const auto refuse = [json = asks_for_json(argc, argv)](const std::string& message, const std::string& help = {}) {
    return tools::report({.program = "locus", .message = message, .help = help}, json);
  };
  try {
    app.parse(argc, argv);
    std::cout.flush();
    require(std::cout.good(), "cannot write to standard output");
    return 0;
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return refuse(text_of(error, app), help_command(app));
  } catch (const CheckFailed&) {
    return 1;
  } catch (const Error& error) {
    return refuse(error.what());
  } catch (const std::bad_alloc&) {
    return refuse("not enough memory for this input");
  } catch (const std::exception& error) {
    return refuse(std::string("unexpected: ") + error.what());
  }
}

}  // namespace locus::tools
