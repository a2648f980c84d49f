// SPDX-License-Identifier: Apache-2.0
// The arrays that we and the peers rotate: [tokens, 32, 128] in three sizes, for L2, L3 and main memory. The third is
// in main memory only if the L3 cache is much smaller; otherwise there is a fourth (memory_size.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "locus/element.h"

namespace locus::bench {

constexpr std::int64_t rotate_heads = 32;
constexpr std::int64_t rotate_head_dim = 128;

struct Size {
  const char* name;
  std::size_t bytes;
};
constexpr Size sizes[] = {
    {"256 KB", std::size_t{256} << 10}, {"8 MB", std::size_t{8} << 20}, {"256 MB", std::size_t{256} << 20}};

struct RotateCase {
  const char* name;
  const char* pairing;
  ElementType type;
  double bars[3];       ///< by size
  double wide_bars[3];  ///< with vectors of 512 bits
};
constexpr RotateCase rotate_cases[] = {
    {"half float32", "half", ElementType::float32, {0.95, 0.95, 0.95}, {0.95, 0.95, 0.95}},
    {"interleaved float32", "interleaved", ElementType::float32, {0.95, 0.95, 0.95}, {0.95, 0.95, 0.95}},
    {"half bfloat16", "half", ElementType::bfloat16, {0.33, 0.65, 0.92}, {0.50, 0.90, 0.92}},
    {"half float16", "half", ElementType::float16, {0.33, 0.65, 0.92}, {0.50, 0.90, 0.92}},
};

/// Returns the number of tokens of this type that fill the bytes.
inline std::int64_t tokens_in(const Size& size, ElementType type) {
  const auto element = static_cast<std::int64_t>(size_of(type));
  return static_cast<std::int64_t>(size.bytes) / (rotate_heads * rotate_head_dim * element);
}

}  // namespace locus::bench
