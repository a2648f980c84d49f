// SPDX-License-Identifier: Apache-2.0
// As much of Unicode as tokenizers ask for: UTF-8, the classes that their patterns name, whether a text is in form NFC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace locus::probe {

/// A character of a text. A byte that is no UTF-8 counts as a character of its own, of no class.
struct Character {
  char32_t code = 0;
  std::uint8_t size = 1;  ///< bytes
};
inline constexpr char32_t not_a_character = 0xFFFFFFFF;

/// The character that starts at `at`, which must lie inside the text. Overlong forms and surrogates are no UTF-8.
Character character_at(std::string_view text, std::size_t at);
void append_utf8(std::string& text, char32_t code);

/// General categories by their first letter, from Unicode 17.0; engines differ by the version they were built with.
bool is_letter(char32_t code);       // \p{L}
bool is_mark(char32_t code);         // \p{M}
bool is_number(char32_t code);       // \p{N}
bool is_punctuation(char32_t code);  // \p{P}
bool is_symbol(char32_t code);       // \p{S}
bool is_space(char32_t code);        // \s: White_Space

/// Where the white space that ends text[0, end) begins, and where the one that starts at `at` ends.
std::size_t without_trailing_space(std::string_view text, std::size_t end);
std::size_t after_space(std::string_view text, std::size_t at);

/// Where a text certainly is in normalization form NFC (quick check, Unicode 14.0): nothing in it could compose or
/// decompose, and marks stand in their canonical order. Answers no for a few texts that are.
bool surely_nfc(std::string_view text);

}  // namespace locus::probe
