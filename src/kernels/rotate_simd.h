// SPDX-License-Identifier: Apache-2.0
// The boundary between the rotate entry point and its SIMD targets: one token at a time.
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
};

using RotateTokenFunction = void (*)(const RotateToken&);

/// The best function of this machine; `type` is float32, bfloat16 or float16.
RotateTokenFunction rotate_token_function(ElementType type, bool interleaved_in, bool interleaved_out);

}  // namespace locus
