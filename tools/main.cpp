// SPDX-License-Identifier: Apache-2.0
// The `locus` command: one file per subcommand, this one for what they share.
#include <iostream>
#include <new>

#include "command.h"
#include "locus/error.h"

namespace locus::tools {

void print_json(const Json& object) { std::cout << object.dump() << '\n'; }

namespace {

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
  add_bias_command(app);
  add_resize_command(app);
  add_positions_command(app);
  try {
    app.parse(argc, argv);
    std::cout.flush();
    require(std::cout.good(), "standard output could not be written");
    return 0;
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    std::cerr << "locus: " << error.what() << " (see locus --help)\n";
  } catch (const CheckFailed&) {
    return 1;
  } catch (const Error& error) {
    std::cerr << "locus: " << error.what() << '\n';
  } catch (const std::bad_alloc&) {
    std::cerr << "locus: not enough memory for this input\n";
  } catch (const std::exception& error) {
    std::cerr << "locus: unexpected: " << error.what() << '\n';
  }
  return 2;
}

}  // namespace
}  // namespace locus::tools

int main(int argc, char** argv) { return locus::tools::run(argc, argv); }
