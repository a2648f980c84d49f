// SPDX-License-Identifier: Apache-2.0
// Attention with all its scores written down, in double: what the fused one is checked against.
#pragma once

#include <vector>

#include "locus/attention.h"

namespace locus::reference {

/// Everything that a call of attend() can be asked for, in double.
struct Attention {
  std::vector<double> output;         ///< [batch, heads, queries, head_dim]
  std::vector<double> log_sum_exp;    ///< [batch, heads, queries]
  std::vector<double> probabilities;  ///< [batch, heads, queries, keys]
  std::vector<double> scores;         ///< the same shape; -infinity where unseen
  /// For error bounds: the largest over the seen keys of the sum of absolute values whose plain sum is the score.
  std::vector<double> magnitude;  ///< [batch, heads, queries]
};

/// The call's inputs as attend() takes them; output, log_sum_exp, probabilities and executor are not used.
Attention attend(const AttentionCall& call);

}  // namespace locus::reference
