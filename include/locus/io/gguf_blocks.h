// SPDX-License-Identifier: Apache-2.0
// The element types of ggml: how large their blocks are, and what the blocks mean.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "locus/io/gguf.h"

namespace locus::io {

/// `elements` consecutive elements of a row are stored together in `bytes` bytes. `decode` is null where the type is
/// known only by its size.
struct GgufBlock {
  GgufTensorType type;
  std::string_view name;
  std::size_t elements;
  std::size_t bytes;
  void (*decode)(const std::byte* block, float* out);
};

/// Null for a number that ggml has not given to a type.
const GgufBlock* find_gguf_block(GgufTensorType type);

}  // namespace locus::io
