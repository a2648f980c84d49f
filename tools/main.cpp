// SPDX-License-Identifier: Apache-2.0
// The `locus` command: one file per subcommand, this one for what they share.
#include <iostream>
#include <new>

#include "command.h"
#include "ending_signals.h"
#include "locus/error.h"

namespace locus::tools {

void print_json(const Json& object) {
  // File names may hold any bytes; JSON may not.
  std::cout << object.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

namespace {

/// One line, whatever control characters the user's names and values hold.
void print_error(std::string message) {
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  std::cerr << "locus: " << message << '\n';
}

/// CLI11 misses a subcommand or an option without saying what stood in its place.
std::string text_of(const CLI::ParseError& error, const CLI::App& app) {
  std::string text = error.what();
  const std::vector<std::string> rest = app.remaining(true);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !rest.empty()) {
    text += "; not understood: " + rest.front();
  }
  return text + " (see locus --help)";
}

int run(int argc, char** argv) {
  CLI::App app{"Positional encodings for transformers: what they are, what they do, and whether yours is right.",
               "locus"};
  app.set_version_flag("--version", LOCUS_VERSION);
  app.require_subcommand(1);
  app.footer("Example: locus show --scheme rope --set head_dim=128 --set pairing=half --positions 0,1,17");
  app.set_help_all_flag("--help-all", "Help for every subcommand");
  add_list_command(app);
  add_show_command(app);
  add_apply_command(app);
  add_attend_command(app);
  add_bias_command(app);
  add_resize_command(app);
  add_convert_command(app);
  add_positions_command(app);
  add_lint_command(app);
  add_bench_command(app);
  add_verify_command(app);
  add_diagnose_command(app);
  add_lab_command(app);
  add_probe_command(app);
  add_report_command(app);
  add_plot_command(app);
  try {
    app.parse(argc, argv);
    std::cout.flush();
    require(std::cout.good(), "standard output could not be written");
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

}  // namespace
}  // namespace locus::tools

int main(int argc, char** argv) {
  locus::tools::tidy_up_on_signals();
  return locus::tools::run(argc, argv);
}
