// SPDX-License-Identifier: Apache-2.0
// The shared library exports exactly the functions of locus.h, with the versions listed in bindings/c/abi.txt; the structs
// have the sizes in bindings/c/structs.txt.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "locus.h"
#include "support/command.h"
#include "support/paths.h"

namespace locus {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream stream((locus::testing::source_dir() / "bindings/c/").string() + path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// locus.h and what it includes.
std::string headers() {
  return text_of("include/locus.h") + text_of("include/locus_cache.h") + text_of("include/locus_plans.h");
}

/// The version of every function.
std::map<std::string, std::string> listed() {
  std::istringstream lines(text_of("abi.txt"));
  std::map<std::string, std::string> versions;
  for (std::string name, version; lines >> name >> version;) versions[name] = version;
  return versions;
}

TEST(Abi, LibraryExportsTheListedFunctions) {
  const testing::TemporaryFolder folder;
  const testing::CommandResult nm =
      testing::run_command(LOCUS_NM, {"-D", "--defined-only", "-P", LOCUS_C_LIBRARY}, folder.path());
  ASSERT_EQ(nm.exit_code, 0) << nm.err;
  std::map<std::string, std::string> shown;
  std::istringstream lines(nm.out);
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (line.starts_with("LOCUS_")) continue;  // the version itself
    ASSERT_TRUE(std::regex_search(line, parts, std::regex(R"(^(\w+)@@(\S+) )"))) << "without a version: " << line;
    shown[parts[1]] = parts[2];
  }
  EXPECT_EQ(shown, listed()) << "bindings/c/abi.txt lists what programs may link to; removing a name breaks them";
}

TEST(Abi, HeaderDeclaresTheListedFunctions) {
  const std::string header = headers();
  static const std::regex pattern(R"(LOCUS_API [^;(]*?(locus_\w+)\()");
  std::set<std::string> declared;
  for (std::sregex_iterator match(header.begin(), header.end(), pattern), end; match != end; ++match) {
    declared.insert((*match)[1]);
  }
  std::set<std::string> names;
  for (const auto& [name, version] : listed()) names.insert(name);
  EXPECT_EQ(declared, names);
}

#define LOCUS_STRUCT(name) \
  { #name, sizeof(name) }
const std::map<std::string, std::size_t>& sizes() {
  static const std::map<std::string, std::size_t> all = {
      LOCUS_STRUCT(locus_attention),
      LOCUS_STRUCT(locus_attention_gradient),
      LOCUS_STRUCT(locus_cache_attention),
      LOCUS_STRUCT(locus_cache_queries),
      LOCUS_STRUCT(locus_cache_shape),
      LOCUS_STRUCT(locus_cached_view),
      LOCUS_STRUCT(locus_config_options),
      LOCUS_STRUCT(locus_dump),
      LOCUS_STRUCT(locus_heads),
      LOCUS_STRUCT(locus_hidden),
      LOCUS_STRUCT(locus_ids),
      LOCUS_STRUCT(locus_info),
      LOCUS_STRUCT(locus_learned_gradient),
      LOCUS_STRUCT(locus_learned_weight),
      LOCUS_STRUCT(locus_mask),
      LOCUS_STRUCT(locus_multimodal_prefix),
      LOCUS_STRUCT(locus_new_tokens),
      LOCUS_STRUCT(locus_out_f64),
      LOCUS_STRUCT(locus_plan_view),
      LOCUS_STRUCT(locus_rotation),
      LOCUS_STRUCT(locus_segment),
      LOCUS_STRUCT(locus_setting),
      LOCUS_STRUCT(locus_span_f32),
      LOCUS_STRUCT(locus_span_f64),
      LOCUS_STRUCT(locus_span_i64),
      LOCUS_STRUCT(locus_span_u8),
      LOCUS_STRUCT(locus_verdict),
  };
  return all;
}
#undef LOCUS_STRUCT

// A program may be older than the library it runs with: both must mean the same memory. What is `sized` may grow.
TEST(Abi, StructsHaveTheListedSizes) {
  if (sizeof(void*) != 8) GTEST_SKIP() << "the list is for 64 bits";
  std::map<std::string, std::size_t> wanted;
  std::istringstream lines(text_of("structs.txt"));
  std::size_t size = 0;
  for (std::string name, kind; lines >> name >> size >> kind;) wanted[name] = size;
  EXPECT_EQ(sizes(), wanted) << "a struct of another size breaks programs; docs/versions.md says when it may change";
}

TEST(Abi, StructsListedAsSizedStartWithTheirSize) {
  const std::string header = headers();
  static const std::regex pattern(R"(typedef struct (locus_\w+) \{\n  size_t size; +/\*\*< sizeof\((\w+)\) \*/)");
  std::set<std::string> declared, wanted;
  for (std::sregex_iterator match(header.begin(), header.end(), pattern), end; match != end; ++match) {
    declared.insert((*match)[1]);
    EXPECT_EQ((*match)[1], (*match)[2]);
  }
  std::istringstream lines(text_of("structs.txt"));
  for (std::string name, size, kind; lines >> name >> size >> kind;) {
    EXPECT_TRUE(kind == "sized" || kind == "fixed") << kind;
    if (kind == "sized") wanted.insert(name);
  }
  EXPECT_EQ(declared, wanted);
}

TEST(Abi, EveryStructIsListed) {
  const std::string header = headers();
  static const std::regex pattern(R"(typedef struct (locus_\w+) \{)");
  std::set<std::string> declared, known;
  for (std::sregex_iterator match(header.begin(), header.end(), pattern), end; match != end; ++match) {
    declared.insert((*match)[1]);
  }
  for (const auto& [name, size] : sizes()) known.insert(name);
  EXPECT_EQ(declared, known);
}

}  // namespace
}  // namespace locus
