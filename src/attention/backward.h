// SPDX-License-Identifier: Apache-2.0
// The code paths that attend_backward() chooses from. Each processes all query heads of one key head in one document,
// writes their gradients and adds to the sums of the learned weights.
#pragma once

#include "attention/learned_sums.h"
#include "attention/problem.h"

namespace locus {

/// float64.
void backward_in_double(const Problem& problem, const AttentionGradientCall& call, const Document& document,
                        std::int64_t key_head, LearnedSums& learned);
/// Rows chosen by counting, of any type. If gates mix the heads, all of them with key head 0.
void backward_counted(const Problem& problem, const AttentionGradientCall& call, const Document& document,
                      std::int64_t key_head, LearnedSums& learned);
/// Returns the number of tiles.
std::int64_t backward_in_tiles(const Problem& problem, const AttentionGradientCall& call, const Document& document,
                               std::int64_t key_head, LearnedSums& learned);

}  // namespace locus
