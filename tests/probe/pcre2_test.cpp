// SPDX-License-Identifier: Apache-2.0
// Split patterns against PCRE2: the same matches in random texts.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <gtest/gtest.h>
#include <pcre2.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "probe/tokenizers/split_pattern.h"
#include "probe/tokenizers/unicode.h"
#include "support/paths.h"

namespace locus::probe {
namespace {

using Pieces = std::vector<std::string>;

class Pcre2 {
 public:
  explicit Pcre2(const std::string& pattern) {
    int error = 0;
    std::size_t at = 0;
    code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.c_str()), pattern.size(), PCRE2_UTF | PCRE2_UCP,
                              &error, &at, nullptr));
    if (code_) data_.reset(pcre2_match_data_create_from_pattern(code_.get(), nullptr));
  }
  bool compiled() const { return code_ != nullptr; }

  /// The matches and the gaps between them, without empty ones.
  Pieces split(const std::string& text) const {
    Pieces pieces;
    std::size_t done = 0, at = 0;
    const auto put = [&](std::size_t end) {
      if (end > done) pieces.push_back(text.substr(done, end - done));
      done = std::max(done, end);
    };
    while (at <= text.size() && pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at,
                                            PCRE2_NOTEMPTY, data_.get(), nullptr) > 0) {
      const std::size_t* const found = pcre2_get_ovector_pointer(data_.get());
      put(found[0]);
      put(found[1]);
      at = found[1];
    }
    put(text.size());
    return pieces;
  }

 private:
  struct Free {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
    void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  };
  std::unique_ptr<pcre2_code, Free> code_;
  std::unique_ptr<pcre2_match_data, Free> data_;
};

/// Characters of every class that both know, and those that patterns name.
std::string random_text(std::mt19937& random) {
  static const std::u32string alphabet =
      U"aZséßſKгд漢かएا한 \t\n\r  　\u0085\u2028019٣५²Ⅷ.,!?'’\"$+<=>^~|_-…。،€©😀̧́ं\u200D\u0000";
  static const std::vector<std::u32string> words = {U"'s", U"'LL", U"'Re", U"  ", U"\r\n", U"\n\n ", U"123", U"Don't"};
  std::string text;
  for (auto left = random() % 24; left > 0; --left) {
    const auto& word = words[random() % words.size()];
    const std::u32string one = random() % 3 == 0 ? word : std::u32string(1, alphabet[random() % alphabet.size()]);
    for (const char32_t code : one) append_utf8(text, code);
  }
  return text;
}

TEST(SplitPattern, AgreesWithPcre2) {
  std::ifstream stream((locus::testing::source_dir() / "tests/golden/split_patterns.json").string());
  const auto patterns = nlohmann::json::parse(stream)["patterns"];
  std::size_t compared = 0;
  for (const auto& [name, pattern] : patterns.items()) {
    if (name == "bloom") continue;  // a set within a set, which PCRE2 does not have
    const Pcre2 other(pattern);
    ASSERT_TRUE(other.compiled()) << name;
    const std::vector<SplitStep> steps = {{SplitPattern(pattern.get<std::string>(), name)}};
    std::mt19937 random(7);
    for (int i = 0; i < 3000; ++i, ++compared) {
      const std::string text = random_text(random);
      Pieces pieces;
      for (const std::string_view piece : split(text, steps)) {
        if (!piece.empty()) pieces.emplace_back(piece);
      }
      ASSERT_EQ(pieces, other.split(text)) << name << " on " << nlohmann::json(text).dump();
    }
  }
  EXPECT_GE(compared, 15000u);
}

}  // namespace
}  // namespace locus::probe
