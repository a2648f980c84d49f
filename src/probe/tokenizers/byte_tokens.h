// SPDX-License-Identifier: Apache-2.0
// How vocabularies spell bytes: <0x0A> in SentencePiece, and GPT-2's alphabet of 256 visible characters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace locus::probe {

/// Returns the byte of a token `<0xHH>`.
std::optional<char> byte_token(std::string_view token);
std::string byte_token_spelling(unsigned char byte);

/// Converts to GPT-2's alphabet: visible Latin-1 bytes stay, the others become U+0100 and up, in order.
std::string to_byte_alphabet(std::string_view bytes);
/// Returns the bytes of a token spelled in the alphabet; nothing if a character is not in it.
std::optional<std::string> from_byte_alphabet(std::string_view token);

/// SentencePiece's character for a space, U+2581.
inline constexpr std::string_view shown_space = "\xE2\x96\x81";
std::string replaced(std::string_view text, std::string_view from, std::string_view to);

}  // namespace locus::probe
