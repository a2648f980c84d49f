// SPDX-License-Identifier: Apache-2.0
// The part of Unicode that tokenizers need: UTF-8 and character classes. normalization.h has the normal forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace locus::probe {

/// A character of a text. A byte that is not UTF-8 counts as one character without a class.
struct Character {
  char32_t code = 0;
  std::uint8_t size = 1;  ///< bytes
};
inline constexpr char32_t not_a_character = 0xFFFFFFFF;

/// Returns the character that starts at `at`, which must be inside the text. Overlong forms and surrogates are not
/// UTF-8.
Character character_at(std::string_view text, std::size_t at);
void append_utf8(std::string& text, char32_t code);

/// General categories by their first letter, from Unicode 15.0; engines use different versions.
bool is_letter(char32_t code);       // \p{L}
bool is_mark(char32_t code);         // \p{M}
bool is_number(char32_t code);       // \p{N}
bool is_punctuation(char32_t code);  // \p{P}
bool is_symbol(char32_t code);       // \p{S}
bool is_space(char32_t code);        // \s: White_Space

/// Return the start of the white space that ends text[0, end), and the end of the white space that starts at `at`.
std::size_t without_trailing_space(std::string_view text, std::size_t end);
std::size_t after_space(std::string_view text, std::size_t at);

}  // namespace locus::probe
