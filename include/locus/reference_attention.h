// SPDX-License-Identifier: Apache-2.0
// Reference attention: computes every score, in double. Fused attention is checked against it.
#pragma once

#include <vector>

#include "locus/attention.h"

namespace locus::reference {

/// Every result of attend(), in double.
struct Attention {
  std::vector<double> output;         ///< [batch, heads, queries, head_dim]
  std::vector<double> log_sum_exp;    ///< [batch, heads, queries]
  std::vector<double> probabilities;  ///< [batch, heads, queries, keys]
  std::vector<double> scores;         ///< the same shape; -infinity where masked
  /// For error bounds: the largest, over the visible keys, sum of the absolute values of the terms that make up the
  /// score.
  std::vector<double> magnitude;  ///< [batch, heads, queries]
};

/// Computes attention from the inputs of `call`; ignores output, log_sum_exp, probabilities and executor. Range: a
/// call that attend() accepts; this is not checked again.
/// Cost: O(queries x keys x head_dim) time and O(queries x keys) memory per batch row and head, on one thread.
Attention attend(const AttentionCall& call);

}  // namespace locus::reference
