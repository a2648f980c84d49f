// SPDX-License-Identifier: Apache-2.0
#include "probe/tokenizers/split_pattern.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "io/bytes.h"
#include "probe/tokenizers/unicode.h"
#include "support/paths.h"

namespace locus::probe {
namespace {

std::vector<std::string> pieces(const std::string& pattern, const std::string& text) {
  std::vector<std::string> all;
  const std::vector<SplitStep> steps = {{SplitPattern(pattern, "test")}};
  for (const std::string_view piece : split(text, steps)) {
    if (!piece.empty()) all.emplace_back(piece);
  }
  return all;
}

// The same patterns and texts in another regular expression engine.
TEST(SplitPattern, AgreesWithAnotherEngine) {
  std::ifstream stream((locus::testing::source_dir() / "tests/golden/split_patterns.json").string());
  const auto golden = nlohmann::json::parse(stream);
  ASSERT_GT(golden["cases"].size(), 100u);
  for (const auto& one : golden["cases"]) {
    const auto pattern = golden["patterns"][one["pattern"].get<std::string>()].get<std::string>();
    EXPECT_EQ(pieces(pattern, one["text"]), one["pieces"].get<std::vector<std::string>>())
        << one["pattern"] << " on " << one["text"];
  }
}

TEST(SplitPattern, AlternativesAreOrderedAndBacktrack) {
  using List = std::vector<std::string>;
  EXPECT_EQ(pieces("a|ab", "ab"), (List{"a", "b"}));
  EXPECT_EQ(pieces("a*(b|ab)", "aab"), (List{"aab"}));  // a* does not backtrack: b matches at once
  EXPECT_EQ(pieces("a*ab", "aaab"), (List{"aaab"}));
  EXPECT_EQ(pieces("a*+ab", "aaab"), (List{"aaab"}));  // possessive: no match, one gap
  EXPECT_EQ(pieces("a{2,3}", "aaaaa"), (List{"aaa", "aa"}));
  EXPECT_EQ(pieces("a(?=b)", "aab"), (List{"a", "a", "b"}));
  EXPECT_EQ(pieces("[a-c\\-]+", "ab-d"), (List{"ab-", "d"}));
  EXPECT_EQ(pieces("[]x]+", "]x]a"), (List{"]x]", "a"}));
}

TEST(SplitPattern, InvalidBytesAreCharactersWithoutAClass) {
  using List = std::vector<std::string>;
  EXPECT_EQ(pieces("\\p{L}+", "a\xFF\xC3"), (List{"a", "\xFF\xC3"}));
  EXPECT_EQ(pieces("[^\\s]+", "\xE2\x82 x"), (List{"\xE2\x82", " ", "x"}));
}

TEST(SplitPattern, RefusesUnsupportedPatterns) {
  for (const char* pattern :
       {"a$", "^a", "a.b", "a+?",   "\\p{Lu}", "\\d+",    "(a|b)+",      "(?<=a)b", "(?!ab)c",  "[a-",
        "(a", "a)", "\\",  "\\p{L", "a{3,1}",  "a{1,3}+", "[[:alpha:]]", "[a&&b]",  "a{99999}", "[z-a]"}) {
    const std::string message = io::error_of([&] { SplitPattern(pattern, "some.file"); });
    EXPECT_TRUE(message.starts_with("some.file: split pattern, character ")) << pattern << ": " << message;
  }
}

// Such patterns backtrack on runs of spaces: twice the spaces must not take four times as long.
TEST(SplitPattern, LongRunsTakeLinearTime) {
  const char* const pattern = R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  EXPECT_EQ(pieces(pattern, std::string(1'000'000, ' ') + "x").size(), 3u);
}

TEST(Unicode, ReadsUtf8Strictly) {
  const auto code = [](std::string_view text) { return character_at(text, 0).code; };
  EXPECT_EQ(code("\x7F"), 0x7Fu);
  EXPECT_EQ(code("\xC2\x80"), 0x80u);
  EXPECT_EQ(code("\xE0\xA0\x80"), 0x800u);
  EXPECT_EQ(code("\xF4\x8F\xBF\xBF"), 0x10FFFFu);
  for (const std::string_view wrong : {"\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                                       "\xF0\x80\x80\x80", "\x80", "\xE2\x82", "\xC3("}) {
    EXPECT_EQ(code(wrong), not_a_character) << wrong;
    EXPECT_EQ(character_at(wrong, 0).size, 1);
  }
  for (const char32_t one : {U'\x41', U'\xE9', U'\x20AC', U'\x1F600'}) {
    std::string text;
    append_utf8(text, one);
    EXPECT_EQ(code(text), one);
  }
}

}  // namespace
}  // namespace locus::probe
