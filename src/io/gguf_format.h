// SPDX-License-Identifier: Apache-2.0
// Shared by the reader and the writer of GGUF.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "locus/io/gguf.h"
#include "parse/byte_reader.h"

namespace locus::io {

inline constexpr std::string_view gguf_magic = "GGUF";
inline constexpr std::uint32_t gguf_default_alignment = 32;
inline constexpr std::string_view gguf_alignment_key = "general.alignment";
inline constexpr std::size_t gguf_most_axes = 4;
inline constexpr std::size_t gguf_longest_key = 65535;

/// Moves the reader past a value of `type` and checks all of it.
void skip_gguf_value(ByteReader& reader, GgufValueType type);

/// Returns the value of general.alignment. `what` names file and key.
std::uint64_t gguf_alignment(const GgufValue& value, const std::string& what);

/// Returns the number of bytes of a tensor of this shape. Error: rows (the last axis) that are not whole blocks.
std::uint64_t gguf_tensor_bytes(const GgufTensor& tensor, const std::string& file_name);

template <class T>
void append_number(std::string& bytes, T number) {
  bytes += text_of(std::as_bytes(std::span(&number, 1)));
}

inline void append_text(std::string& bytes, std::string_view text) {
  append_number(bytes, std::uint64_t{text.size()});
  bytes += text;
}

inline std::uint64_t padding_to(std::uint64_t alignment, std::uint64_t position) {
  return (alignment - position % alignment) % alignment;
}

}  // namespace locus::io
