// SPDX-License-Identifier: Apache-2.0
// The element types of ggml: the size of their blocks, and how to decode them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "locus/io/gguf.h"

namespace locus::io {

/// `elements` consecutive elements of a row are stored together in `bytes` bytes. `decode` is null if Locus does not
/// decode the type.
struct GgufBlock {
  GgufTensorType type;
  std::string_view name;
  std::size_t elements;
  std::size_t bytes;
  void (*decode)(const std::byte* block, float* out);
};

/// Returns the block of a type; null for a number that ggml does not use.
const GgufBlock* find_gguf_block(GgufTensorType type);

}  // namespace locus::io
