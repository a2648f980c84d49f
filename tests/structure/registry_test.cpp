// SPDX-License-Identifier: Apache-2.0
// The registry has exactly the schemes and rules with a file; every entry is described; every file has a licence
// line.
#include "locus/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "locus/encoding.h"
#include "locus/scaling.h"
#include "support/paths.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using testing::text_of;
using Names = std::set<std::string>;

Names stems_in(const std::string& folder) {
  Names stems;
  for (const auto& entry : fs::directory_iterator(testing::source_dir() / folder)) {
    if (entry.path().extension() == ".cpp") stems.insert(entry.path().stem().string());
  }
  return stems;
}

// The names of the lines LOCUS_SCHEME(name) or LOCUS_RULE(name), in their order.
std::vector<std::string> registered_in(const std::string& file) {
  std::ifstream stream(testing::source_dir() / file);
  std::vector<std::string> names;
  const std::regex pattern(R"(^LOCUS_(?:SCHEME|RULE)\((\w+)\)$)");
  for (std::string line; std::getline(stream, line);) {
    std::smatch match;
    if (std::regex_match(line, match, pattern)) names.push_back(match[1]);
  }
  return names;
}

Names set_of(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

template <class Entry>
std::vector<std::string> names_of(std::span<const Entry* const> entries) {
  std::vector<std::string> names;
  for (const Entry* entry : entries) names.emplace_back(entry->name);
  return names;
}

TEST(Registry, HasEverySchemeFileAndNoOther) {
  const std::vector<std::string> registered = registered_in("src/schemes/registry.def");
  EXPECT_EQ(set_of(registered), stems_in("src/schemes"));
  EXPECT_EQ(names_of(schemes()), registered) << "a scheme's name is its file's stem";
}

TEST(Registry, HasEveryRuleFileAndNoOther) {
  Names files = stems_in("src/scaling");
  EXPECT_EQ(files.erase("double_double"), 1u);  // the arithmetic of rules, not a rule
  const std::vector<std::string> registered = registered_in("src/scaling/registry.def");
  EXPECT_EQ(set_of(registered), files);
  EXPECT_EQ(names_of(rules()), registered) << "a rule's name is its file's stem";
}

TEST(Registry, NamesAreFoundAndUnique) {
  EXPECT_EQ(set_of(names_of(schemes())).size(), schemes().size());
  EXPECT_EQ(set_of(names_of(rules())).size(), rules().size());
  for (const Scheme* scheme : schemes()) EXPECT_EQ(&find_scheme(scheme->name), scheme);
  for (const Rule* rule : rules()) EXPECT_EQ(&find_rule(rule->name), rule);
}

void expect_described(std::string_view owner, std::span<const Parameter> parameters) {
  Names seen;
  for (const Parameter& parameter : parameters) {
    SCOPED_TRACE(std::string(owner) + "." + std::string(parameter.name));
    EXPECT_TRUE(std::regex_match(std::string(parameter.name), std::regex("[a-z][a-z0-9_]*")));
    EXPECT_TRUE(seen.emplace(parameter.name).second) << "twice";
    EXPECT_FALSE(parameter.meaning.empty());
    EXPECT_EQ(parameter.kind == ValueKind::choice, !parameter.choices.empty());
    EXPECT_FALSE(parameter.required && parameter.fallback) << "a required parameter has no default";
    EXPECT_LE(parameter.least, parameter.most);
    if (parameter.fallback) {
      Parameter alone = parameter;
      alone.fallback.reset();
      const Arguments given{{std::string(parameter.name), *parameter.fallback}};
      const Arguments kept = validate(owner, std::span(&alone, 1), given);
      EXPECT_EQ(kept.find(parameter.name)->index(), parameter.fallback->index()) << "the default is of another kind";
    }
  }
}

TEST(Registry, EveryEntryIsDescribed) {
  for (const Scheme* scheme : schemes()) {
    EXPECT_FALSE(scheme->summary.empty()) << scheme->name;
    EXPECT_FALSE(scheme->paper.empty()) << scheme->name;
    EXPECT_FALSE(scheme->title.empty()) << scheme->name;
    EXPECT_NE(scheme->make, nullptr) << scheme->name;
    expect_described(scheme->name, scheme->parameters);
    expect_described(scheme->name, parameters_of(*scheme, scheme->example));
  }
  for (const Rule* rule : rules()) {
    EXPECT_FALSE(rule->summary.empty()) << rule->name;
    EXPECT_FALSE(rule->paper.empty()) << rule->name;
    EXPECT_FALSE(rule->title.empty()) << rule->name;
    EXPECT_TRUE(rule->exact != nullptr && rule->single != nullptr) << rule->name;
    expect_described(rule->name, rule->parameters);
  }
}

TEST(Registry, ExamplesAreValidAndTheirLabelsDiffer) {
  for (const Scheme* scheme : schemes()) {
    Names labels;
    EXPECT_NO_THROW(Encoding(scheme->name, scheme->example)) << scheme->name;
    for (const Example& variant : scheme->variants) {
      EXPECT_TRUE(labels.emplace(variant.label).second) << scheme->name << ' ' << variant.label << " twice";
      EXPECT_NO_THROW(Encoding(scheme->name, variant.arguments)) << scheme->name << ' ' << variant.label;
    }
  }
  for (const Rule* rule : rules()) {
    EXPECT_NO_THROW(validate(rule->name, rule->parameters, rule->example)) << rule->name;
    EXPECT_TRUE(!rule->compared || needs_factor_only(*rule)) << rule->name << " cannot be compared by default";
  }
}

TEST(Registry, SpellingsOfRulesDiffer) {
  Names spellings, types;
  for (const Rule* rule : rules()) {
    for (const std::string_view spelling : rule->hf_types) EXPECT_TRUE(spellings.emplace(spelling).second) << spelling;
    EXPECT_TRUE(rule->gguf_type.empty() || types.emplace(rule->gguf_type).second) << rule->gguf_type;
    if (!rule->trained_length.empty()) {
      EXPECT_NO_THROW(find_parameter(rule->name, rule->parameters, rule->trained_length)) << rule->name;
    }
  }
}

TEST(Registry, EnumeratorsHaveNames) {
  Names claims;
  for (int i = 0; i <= static_cast<int>(Claim::learned); ++i) claims.emplace(name_of(static_cast<Claim>(i)));
  EXPECT_EQ(claims.size(), static_cast<std::size_t>(Claim::learned) + 1);
  EXPECT_FALSE(claims.contains("?"));
  for (const Scheme* scheme : schemes()) EXPECT_NE(name_of(scheme->site), "?") << scheme->name;
}

// The first line, or the second after #!. Files that cannot contain a comment are skipped, and so are READMEs of
// rooms.
TEST(Files, HaveALicence) {
  const Names no_comments = {".json", ".ipynb", ".npy", ".bin", ".md", ".xz", ".pyc"};
  int files = 0;
  for (const char* folder : {"src", "include", "tools", "bench", "tests", "examples", "fuzz"}) {
    if (!fs::exists(testing::source_dir() / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(testing::source_dir() / folder)) {
      const std::string path = entry.path().string();
      const bool foreign =
          path.find("fuzz/corpus/") != std::string::npos || path.find("/node_modules/") != std::string::npos ||
          path.find("/examples/data/") != std::string::npos || path.find("/tests/golden/") != std::string::npos;
      if (!entry.is_regular_file() || foreign || no_comments.contains(entry.path().extension().string())) continue;
      std::ifstream stream(entry.path());
      std::string line;
      std::getline(stream, line);
      if (line.starts_with("#!")) std::getline(stream, line);
      EXPECT_NE(line.find("SPDX-License-Identifier: Apache-2.0"), std::string::npos) << entry.path();
      ++files;
    }
  }
  EXPECT_GT(files, 100);
}

// The C++ that the README shows is part of a program that the tests build and run.
TEST(Files, ReadmeShowsTheQuickStart) {
  const std::string readme = text_of(testing::source_dir() / "README.md");
  const std::string example = text_of(testing::source_dir() / "examples" / "quick_start.cpp");
  const std::string open = "```cpp\n";
  const std::size_t begin = readme.find(open) + open.size();
  ASSERT_NE(begin, std::string::npos + open.size()) << "README.md has no block of C++";
  std::istringstream block(readme.substr(begin, readme.find("```", begin) - begin));
  std::string indented;
  for (std::string line; std::getline(block, line);) indented += "  " + line + "\n";
  EXPECT_GE(std::count(indented.begin(), indented.end(), '\n'), 5);
  EXPECT_NE(example.find("int main() {\n" + indented + "}"), std::string::npos);
}

}  // namespace
}  // namespace locus
