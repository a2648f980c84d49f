// SPDX-License-Identifier: Apache-2.0
// The boundary between the rotate entry points and their SIMD targets: one token at a time.
#pragma once

#include <cstddef>

#include "locus/element.h"

namespace locus {

/// One token: the rotary slice of each of its heads is turned by cos and sin.
struct RotateToken {
  const void* in = nullptr;  ///< the first head's rotary slice
  void* out = nullptr;       ///< may be `in`, unless the layouts differ
  std::ptrdiff_t in_head_stride = 0;
  std::ptrdiff_t out_head_stride = 0;
  std::size_t heads = 0;
  std::size_t pairs = 0;
  const float* cos = nullptr;
  const float* sin = nullptr;
  float* spread = nullptr;  ///< room for 2 * pairs floats, where cos and sin may be put in another order
};

using RotateTokenFunction = void (*)(const RotateToken&);

/// What a token is turned like: its type (float32, bfloat16, float16), its order of coordinates, its direction.
struct RotateKind {
  ElementType type = ElementType::float32;
  bool interleaved_in = false;
  bool interleaved_out = false;
  bool inverse = false;
};

/// The best function of this machine.
RotateTokenFunction rotate_token_function(const RotateKind& kind);

}  // namespace locus
