// SPDX-License-Identifier: Apache-2.0
// No function, lambda or function type takes more than six parameters: more of them go into a struct with names.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/paths.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t most_parameters = 6;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Where a literal or a comment that starts at `i` ends; `i` where none starts there.
std::size_t end_of_literal(std::string_view text, std::size_t i) {
  const std::string_view rest = text.substr(i);
  const auto behind = [&](std::string_view end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  if (rest.starts_with("//")) return std::min(text.find('\n', i), text.size());
  if (rest.starts_with("/*")) return behind("*/", i + 2);
  if (rest.starts_with("R\"")) {
    const std::size_t open = text.find('(', i);
    return behind(")" + std::string(text.substr(i + 2, open - i - 2)) + "\"", open);
  }
  const bool separator = rest.front() == '\'' && i > 0 && is_word(text[i - 1]);  // 1'000'000
  if (separator || (rest.front() != '"' && rest.front() != '\'')) return i;
  std::size_t end = i + 1;
  while (end < text.size() && text[end] != rest.front()) end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

// The text with literals and comments blanked out; lines stay where they are.
std::string code_of(std::string_view text) {
  std::string code;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = end_of_literal(text, i);
    for (; i < end; ++i) code += text[i] == '\n' ? '\n' : ' ';
    if (i < text.size() && end_of_literal(text, i) == i) code += text[i++];
  }
  return code;
}

// The parts between the bracket at `open` and its partner, without surrounding blanks; empty if there is none.
std::vector<std::string> parts_of(std::string_view code, std::size_t open) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    const char c = code[i];
    if (c == ';' && depth == 1) return {};  // a loop
    if (std::string_view("([{<").find(c) != std::string_view::npos) ++depth;
    if (std::string_view(")]}").find(c) != std::string_view::npos || (c == '>' && depth > 1 && code[i - 1] != '-')) {
      --depth;
    }
    if (depth == 0) return parts;
    if (i == open) continue;
    if (c == ',' && depth == 1) {
      parts.emplace_back();
    } else if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      parts.back() += c;
    } else if (!parts.back().empty() && parts.back().back() != ' ') {
      parts.back() += ' ';
    }
  }
  return {};
}

// `const std::vector<int>& name = {}`: a type and a name.
bool declares(std::string part) {
  while (part.ends_with(' ')) part.pop_back();
  static const std::regex form(
      R"((?:(?:const|unsigned|struct|typename|volatile) )*[A-Za-z_][\w:]*(?:<[^=]*>)?(?: const)?)"
      R"((?: |[&*]|\.\.\.|HWY_RESTRICT|__restrict)+[A-Za-z_]\w*(?:\[\w*\])?(?: ?=.*)?)");
  return std::regex_match(part, form);
}

// The line and the first parameter of every list that is too long.
std::vector<std::string> long_lists(std::string_view text) {
  const std::string code = code_of(text);
  std::vector<std::string> found;
  for (std::size_t i = code.find('('); i != std::string::npos; i = code.find('(', i + 1)) {
    const std::vector<std::string> parts = parts_of(code, i);
    if (parts.size() <= most_parameters || !std::all_of(parts.begin(), parts.end(), declares)) continue;
    const auto line = 1 + std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(i), '\n');
    found.push_back("line " + std::to_string(line) + ": " + std::to_string(parts.size()) + " from " + parts.front());
  }
  return found;
}

TEST(Parameters, TheTestItselfSeesALongList) {
  EXPECT_EQ(long_lists("int f(int a, int b, int c, int d, int e, int g);").size(), 0u);
  EXPECT_EQ(long_lists("int f(int a, int b, int c, int d, int e, int g, int h);").size(), 1u);
  EXPECT_EQ(long_lists("void (*run)(const A& a, B* b, std::map<int, int> c, int d = 1, T... e, V f[2], int g)").size(),
            1u);
  EXPECT_EQ(long_lists("auto f = [](auto a, auto b, auto c, auto d, auto e, auto g, auto h) {};").size(), 1u);
  EXPECT_EQ(long_lists("/* (int a, int b, int c, int d, int e, int g, int h) */ \"(int a, int b)\"").size(), 0u);
  EXPECT_EQ(long_lists("f(a, b + 1, c, 1'000, \"x, y\", {1, 2}, g(h, i));").size(), 0u);
  EXPECT_EQ(long_lists("R\"(')\" f(int a,\nint b, // c\nint c, int d, int e, int g, int h)"),
            (std::vector<std::string>{"line 1: 7 from int a"}));
}

TEST(Parameters, AreAtMostSix) {
  static const std::set<fs::path> kinds = {".h", ".cpp", ".c", ".inc"};
  int read = 0;
  for (const char* folder : {"include", "src", "lab", "tools", "bindings", "bench", "fuzz", "examples", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(testing::source_dir() / folder)) {
      if (!entry.is_regular_file() || !kinds.contains(entry.path().extension())) continue;
      ++read;
      for (const std::string& one : long_lists(testing::text_of(entry.path()))) {
        ADD_FAILURE() << fs::relative(entry.path(), testing::source_dir()) << ", " << one << ": use a struct";
      }
    }
  }
  EXPECT_GT(read, 500);
}

}  // namespace
}  // namespace locus
