// SPDX-License-Identifier: Apache-2.0
// The interface between the rotate entry points and their SIMD targets: a run of tokens at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "locus/element.h"

namespace locus {

/// Tokens at equal strides: the rotary slice of each of their heads is rotated by the token's row [cos | sin].
struct RotateTokens {
  const void* in = nullptr;  ///< the first token's first head's rotary slice
  void* out = nullptr;       ///< may be `in`, unless the layouts differ
  std::int64_t in_token_stride = 0;
  std::int64_t out_token_stride = 0;
  std::int64_t in_head_stride = 0;
  std::int64_t out_head_stride = 0;
  std::size_t tokens = 1;
  std::size_t heads = 0;
  std::size_t pairs = 0;
  const float* const* rows = nullptr;  ///< one per token
  bool inverse = false;                ///< rotate back
  float* scratch = nullptr;            ///< rotate_scratch(pairs) floats
};

/// How many floats of scratch a call needs: a prepared row of twice its length, and a negated sin.
constexpr std::size_t rotate_scratch(std::size_t pairs) { return 5 * pairs; }

using RotateTokensFunction = void (*)(const RotateTokens&);

/// The element type (float32, bfloat16, float16) and the order of coordinates before and after.
struct RotateKind {
  ElementType type = ElementType::float32;
  bool interleaved_in = false;
  bool interleaved_out = false;
};

/// Returns the best function of this machine.
RotateTokensFunction rotate_tokens_function(const RotateKind& kind);

/// Coordinates that are not rotated: `count` of each head of one token, multiplied by `factor`. `out` may be `in`.
struct ScaleHeads {
  const void* in = nullptr;
  void* out = nullptr;
  std::int64_t in_head_stride = 0;
  std::int64_t out_head_stride = 0;
  std::size_t heads = 0;
  std::size_t count = 0;
  float factor = 1;
};

using ScaleHeadsFunction = void (*)(const ScaleHeads&);

/// float32, bfloat16 and float16; computes in float32 and rounds once.
ScaleHeadsFunction scale_heads_function(ElementType type);

}  // namespace locus
