// SPDX-License-Identifier: Apache-2.0
// The boundary between rows from neighbours and their SIMD targets: a few tokens at a time.
#pragma once

#include <cstddef>

namespace locus {

/// Consecutive tokens of a run whose sums are computed together; `inputs` starts at the first tap of the first token.
struct NeighbourTokens {
  const float* inputs = nullptr;               ///< [tokens + kernel - 1][dim]
  const float* weights = nullptr;              ///< NeighbourPlan::weights
  const float* bias = nullptr;                 ///< [dim]
  std::size_t dim = 0, group = 0, kernel = 0;  ///< group: channels of a group
  std::size_t tokens = 0;                      ///< 1 to neighbour_tokens
  float* sums = nullptr;                       ///< [tokens][dim]: the convolution, before GELU
};

inline constexpr std::size_t neighbour_tokens = 4;

void neighbour_sums(const NeighbourTokens& call);

}  // namespace locus
