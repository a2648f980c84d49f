// SPDX-License-Identifier: Apache-2.0
// Classes and normal forms against utf8proc, for every code point and for random texts.
#include "probe/tokenizers/unicode.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <random>

#include "probe/tokenizers/normalization.h"

namespace locus::probe {
namespace {

struct Form {
  NormalForm form;
  const char* name;
  int options;
};
constexpr std::array<Form, 4> forms = {{
    {NormalForm::nfc, "NFC", UTF8PROC_STABLE | UTF8PROC_COMPOSE},
    {NormalForm::nfd, "NFD", UTF8PROC_STABLE | UTF8PROC_DECOMPOSE},
    {NormalForm::nfkc, "NFKC", UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT},
    {NormalForm::nfkd, "NFKD", UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT},
}};

std::string by_utf8proc(const std::string& text, const Form& form) {
  utf8proc_uint8_t* result = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &result, static_cast<utf8proc_option_t>(form.options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(result, std::free);
  EXPECT_GE(size, 0) << utf8proc_errmsg(size);
  return {reinterpret_cast<const char*>(result), static_cast<std::size_t>(std::max<utf8proc_ssize_t>(size, 0))};
}

std::string in_utf8(std::u32string_view codes) {
  std::string text;
  for (const char32_t code : codes) append_utf8(text, code);
  return text;
}

bool is_surrogate(char32_t code) { return code >= 0xD800 && code < 0xE000; }

TEST(Unicode, ClassesAreThoseOfUtf8proc) {
  for (char32_t code = 0; code < 0x110000; ++code) {
    if (is_surrogate(code)) continue;
    const char wanted = utf8proc_category_string(static_cast<utf8proc_int32_t>(code))[0];
    ASSERT_EQ(is_letter(code), wanted == 'L') << std::hex << std::uint32_t{code};
    ASSERT_EQ(is_mark(code), wanted == 'M') << std::hex << std::uint32_t{code};
    ASSERT_EQ(is_number(code), wanted == 'N') << std::hex << std::uint32_t{code};
    ASSERT_EQ(is_punctuation(code), wanted == 'P') << std::hex << std::uint32_t{code};
    ASSERT_EQ(is_symbol(code), wanted == 'S') << std::hex << std::uint32_t{code};
  }
}

// A space and an acute accent around each one: the latter composes with some, the former with none.
TEST(NormalForms, OfEveryCharacterAreThoseOfUtf8proc) {
  for (char32_t code = 0; code < 0x110000; ++code) {
    if (is_surrogate(code)) continue;
    const char32_t codes[] = {' ', code, 0x301};
    const std::string text = in_utf8({codes, 3});
    for (const Form& form : forms) {
      ASSERT_EQ(to_form(text, form.form), by_utf8proc(text, form))
          << form.name << ' ' << std::hex << std::uint32_t{code};
    }
  }
}

// Starters that compose, marks of many classes, and Hangul, in any order. U+11A7 is left out: utf8proc 2.8 drops it after a
// Hangul syllable, although it is no tail.
TEST(NormalForms, OfRandomTextsAreThoseOfUtf8proc) {
  std::u32string alphabet = U"aeoAEOns ़゙्ָּֿ̧̣́̀̈̅̊कがはΩΩẛſﬁ①한글가각각";
  alphabet += {0x0344, 0x0F73, 0x0F75, 0x0F81, 0x1161, 0x1D15E, 0x2ADC, 0xFB2C, 0x1E0A, 0x0323, 0x0307, 0x09C7,
               0x09BE, 0x1112, 0x1175, 0x11C2, 0xD7A3, 0xAC01,  0x2126, 0x212B, 0xFDFA, 0x3392, 0x0345, 0x1FB7};
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::u32string codes;
    for (auto left = random() % 8; left > 0; --left) codes.push_back(alphabet[random() % alphabet.size()]);
    const std::string text = in_utf8(codes);
    for (const Form& form : forms)
      ASSERT_EQ(to_form(text, form.form), by_utf8proc(text, form)) << form.name << ' ' << text;
  }
}

TEST(NormalForms, KeepBytesThatAreNotUtf8) {
  EXPECT_EQ(to_form("e\xFF\xCC\x81", NormalForm::nfc), "e\xFF\xCC\x81");  // the accent follows no letter
  EXPECT_EQ(to_form("\xC3 e\xCC\x81\xE2\x82", NormalForm::nfc), "\xC3 \xC3\xA9\xE2\x82");
}

}  // namespace
}  // namespace locus::probe
