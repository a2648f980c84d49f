// SPDX-License-Identifier: Apache-2.0
// `locus lab`: runs the program locus-lab, which links libtorch.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "base/text_layout.h"
#include "command.h"
#include "locus/error.h"
#include "terminal.h"

namespace locus::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* program_name = "locus-lab";

/// Looks in the folder of this program, then along PATH, then where an installation keeps it. Empty if not found.
std::string find_program() {
  std::error_code ignored;
  const fs::path own = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  std::vector<fs::path> folders = {own};
  if (const char* path = std::getenv("PATH")) {
    std::istringstream parts(path);
    for (std::string part; std::getline(parts, part, ':');) {
      if (!part.empty()) folders.emplace_back(part);
    }
  }
  folders.push_back(own / ".." / "libexec" / "locus");
  for (const fs::path& folder : folders) {
    const std::string program = (folder / program_name).string();
    if (fs::is_regular_file(program, ignored) && access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

void run_program(const std::string& program, std::vector<std::string> words) {
  words.insert(words.begin(), program);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::cout.flush();
  execv(program.c_str(), arguments.data());
  fail("cannot run ", program, ": ", std::strerror(errno));
}

constexpr const char* how_to_build =
    "the lab is a separate program, locus-lab, which was not found; ./bootstrap lab builds and runs it";

}  // namespace

void add_lab_command(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("lab", "Train small models with every scheme and test them beyond their trained length");
  // All following words are passed to the other program, --help too.
  command->prefix_command();
  command->fallthrough(false);
  command->set_help_flag();
  command->set_help_all_flag();
  command->callback([command] {
    const std::vector<std::string> words = command->remaining();
    const std::string program = find_program();
    if (!program.empty()) run_program(program, words);
    const bool help = !words.empty() && (words.front() == "--help" || words.front() == "-h");
    require(help, how_to_build);
    std::cout << wrapped(std::string("Train every scheme and test it beyond its length: ") + how_to_build + ".",
                         static_cast<std::size_t>(terminal_width()))
              << "Example: locus lab --preset quick\n";
  });
}

}  // namespace locus::tools
