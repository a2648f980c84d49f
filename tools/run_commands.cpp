// SPDX-License-Identifier: Apache-2.0
#include "run_commands.h"

#include <iostream>
#include <new>

#include "locus/error.h"
#include "printable.h"

namespace locus::tools {

void print_json(const Json& object) {
  // File names may contain any bytes; JSON may not.
  std::cout << object.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

namespace {

/// Prints one line, even if names and values contain control characters.
void print_error(const std::string& message) { std::cerr << "locus: " << printable(message) << '\n'; }

/// Adds the word that CLI11 did not understand, which its message omits.
std::string text_of(const CLI::ParseError& error, const CLI::App& app) {
  std::string text = error.what();
  const std::vector<std::string> rest = app.remaining(true);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !rest.empty()) {
    text += "; not understood: " + rest.front();
  }
  return text + " (see locus --help)";
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
  app.set_version_flag("--version", LOCUS_VERSION, "Print the version");
  app.require_subcommand(1);
  app.footer(
      "Each command has --help with examples.\n"
      "Example: locus show --scheme rope:head_dim=128,pairing=half --positions 0,1,17");
  app.set_help_flag("-h,--help", "Print this help");
  app.set_help_all_flag("--help-all", "Print the help of every command");
  add_commands(app, groups);
  try {
    app.parse(argc, argv);
    std::cout.flush();
    require(std::cout.good(), "cannot write to standard output");
    return 0;
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    print_error(text_of(error, app));
  } catch (const CheckFailed&) {
    return 1;
  } catch (const Error& error) {
    print_error(error.what());
  } catch (const std::bad_alloc&) {
    print_error("not enough memory for this input");
  } catch (const std::exception& error) {
    print_error(std::string("unexpected: ") + error.what());
  }
  return 2;
}

}  // namespace locus::tools
