// SPDX-License-Identifier: Apache-2.0
#include "probe/tokenizers/unicode.h"

#include <algorithm>

#include "probe/tokenizers/unicode_tables.h"

namespace locus::probe {
namespace {

template <class Table>
auto find_range(const Table& table, char32_t code) {
  const auto after = std::upper_bound(table.begin(), table.end(), code,
                                      [](char32_t value, const auto& range) { return value < range.first; });
  return after != table.begin() && code <= std::prev(after)->last ? std::prev(after) : table.end();
}

template <class Table>
bool holds(const Table& table, char32_t code) {
  return find_range(table, code) != table.end();
}

}  // namespace

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const Character broken{not_a_character, 1};
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::uint8_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() - at < size) return broken;
  char32_t code = lead & (0xFFU >> (size + 1U));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return broken;
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  const char32_t least = size == 4 ? 0x10000 : size == 3 ? 0x800 : 0x80;
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return code < least || code > 0x10FFFF || surrogate ? broken : Character{code, size};
}

void append_utf8(std::string& text, char32_t code) {
  const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6U));
    put(0x80 | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12U));
    put(0x80 | ((code >> 6U) & 0x3FU));
    put(0x80 | (code & 0x3FU));
  } else {
    put(0xF0 | (code >> 18U));
    put(0x80 | ((code >> 12U) & 0x3FU));
    put(0x80 | ((code >> 6U) & 0x3FU));
    put(0x80 | (code & 0x3FU));
  }
}

bool is_letter(char32_t code) {
  if (code < 0x80) return (code | 0x20U) >= 'a' && (code | 0x20U) <= 'z';
  return holds(unicode::letters, code);
}
bool is_mark(char32_t code) { return holds(unicode::marks, code); }
bool is_number(char32_t code) {
  if (code < 0x80) return code >= '0' && code <= '9';
  return holds(unicode::numbers, code);
}
bool is_punctuation(char32_t code) { return holds(unicode::punctuation, code); }
bool is_symbol(char32_t code) { return holds(unicode::symbols, code); }

bool is_space(char32_t code) {
  return (code >= 0x09 && code <= 0x0D) || code == 0x20 || code == 0x85 || code == 0xA0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
         code == 0x3000;
}

std::size_t after_space(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const Character c = character_at(text, at);
    if (!is_space(c.code)) break;
    at += c.size;
  }
  return at;
}

std::size_t without_trailing_space(std::string_view text, std::size_t end) {
  while (end > 0) {
    std::size_t start = end - 1;
    while (start > 0 && end - start < 4 && (static_cast<unsigned char>(text[start]) & 0xC0U) == 0x80) --start;
    const Character c = character_at(text.substr(0, end), start);
    if (start + c.size != end || !is_space(c.code)) break;
    end = start;
  }
  return end;
}

}  // namespace locus::probe
