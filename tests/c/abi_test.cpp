// SPDX-License-Identifier: Apache-2.0
// The shared library exports exactly the functions of locus.h, listed in bindings/c/abi.txt.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "support/command.h"
#include "support/paths.h"

namespace locus {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream stream((locus::testing::source_dir() / "bindings/c/").string() + path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::set<std::string> listed() {
  std::istringstream lines(text_of("abi.txt"));
  return {std::istream_iterator<std::string>(lines), {}};
}

TEST(Abi, LibraryExportsTheListedFunctions) {
  const testing::TemporaryFolder folder;
  const testing::CommandResult nm =
      testing::run_command(LOCUS_NM, {"-D", "--defined-only", "-P", LOCUS_C_LIBRARY}, folder.path());
  ASSERT_EQ(nm.exit_code, 0) << nm.err;
  std::set<std::string> shown;
  std::istringstream lines(nm.out);
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find_first_of("@ "));
    if (name != "LOCUS_0") shown.insert(name);  // the version itself
  }
  EXPECT_EQ(shown, listed()) << "bindings/c/abi.txt lists what programs may link to; removing a name breaks them";
}

TEST(Abi, HeaderDeclaresTheListedFunctions) {
  const std::string header = text_of("include/locus.h");
  static const std::regex pattern(R"(LOCUS_API [^;(]*?(locus_\w+)\()");
  std::set<std::string> declared;
  for (std::sregex_iterator match(header.begin(), header.end(), pattern), end; match != end; ++match) {
    declared.insert((*match)[1]);
  }
  EXPECT_EQ(declared, listed());
}

}  // namespace
}  // namespace locus
