// SPDX-License-Identifier: Apache-2.0
// The boundary between to_polar() and its SIMD targets: the heads of one token.
#pragma once

#include <cstddef>
#include <cstdint>

#include "locus/element.h"

namespace locus {

/// A token's heads. Arrays of floats per channel have room for a multiple of polar_room of them.
struct PolarHeads {
  const void* in = nullptr;
  void* out = nullptr;
  std::int64_t in_head_stride = 0, out_head_stride = 0;
  std::size_t heads = 0;
  std::size_t channels = 0;
  const float* cos_sin = nullptr;  ///< [heads][2][room] of the phases; null for queries
  std::size_t room = 0;
  float* scratch = nullptr;  ///< 3 * room
};

/// At least as many as any SIMD vector has.
inline constexpr std::size_t polar_room = 64;

/// float32, bfloat16 and float16.
void polar_heads(ElementType type, const PolarHeads& token);

}  // namespace locus
