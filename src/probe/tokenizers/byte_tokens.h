// SPDX-License-Identifier: Apache-2.0
// How vocabularies spell bytes: <0x0A> among SentencePiece's tokens, GPT-2's alphabet of 256 visible characters.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace locus::probe {

/// The byte that a token `<0xHH>` stands for.
std::optional<char> byte_token(std::string_view token);
std::string byte_token_spelling(unsigned char byte);

/// GPT-2's alphabet: visible Latin-1 bytes stand for themselves, the others for U+0100 and up, in order.
std::string to_byte_alphabet(std::string_view bytes);
/// The bytes behind a token spelled in the alphabet; nothing where a character is not of it.
std::optional<std::string> from_byte_alphabet(std::string_view token);

/// SentencePiece shows a space as U+2581.
inline constexpr std::string_view shown_space = "\xE2\x96\x81";
std::string replaced(std::string_view text, std::string_view from, std::string_view to);

}  // namespace locus::probe
