// SPDX-License-Identifier: Apache-2.0
#include "probe/tokenizers/byte_tokens.h"

#include <array>
#include <charconv>

#include "probe/tokenizers/unicode.h"

namespace locus::probe {
namespace {

bool is_visible(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

const std::array<char32_t, 256>& alphabet() {
  static const auto made = [] {
    std::array<char32_t, 256> codes{};
    char32_t next = 0x100;
    for (unsigned byte = 0; byte < 256; ++byte) codes[byte] = is_visible(byte) ? byte : next++;
    return codes;
  }();
  return made;
}

}  // namespace

std::optional<char> byte_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, value, 16);
  if (error != std::errc() || end != token.data() + 5) return std::nullopt;
  return static_cast<char>(value);
}

std::string byte_token_spelling(unsigned char byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  return {'<', '0', 'x', digits[byte >> 4U], digits[byte & 15U], '>'};
}

std::string to_byte_alphabet(std::string_view bytes) {
  std::string spelled;
  for (const char byte : bytes) append_utf8(spelled, alphabet()[static_cast<unsigned char>(byte)]);
  return spelled;
}

std::optional<std::string> from_byte_alphabet(std::string_view token) {
  static const auto bytes_by_code = [] {
    std::array<int, 0x180> bytes{};
    bytes.fill(-1);
    for (int byte = 0; byte < 256; ++byte) bytes[alphabet()[static_cast<std::size_t>(byte)]] = byte;
    return bytes;
  }();
  std::string bytes;
  for (std::size_t at = 0; at < token.size();) {
    const Character c = character_at(token, at);
    at += c.size;
    if (c.code >= bytes_by_code.size() || bytes_by_code[c.code] < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(bytes_by_code[c.code]));
  }
  return bytes;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const bool here = !from.empty() && text.substr(at).starts_with(from);
    result += here ? to : text.substr(at, 1);
    at += here ? from.size() : 1;
  }
  return result;
}

}  // namespace locus::probe
