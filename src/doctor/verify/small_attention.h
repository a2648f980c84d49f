// SPDX-License-Identifier: Apache-2.0
// Attention of a few tokens with all scores in double, from a subject's own functions.
#pragma once

#include "doctor/verify/samples.h"

namespace locus::doctor {

/// One query, key and value vector per token; the same for every head.
struct Tokens {
  std::vector<std::vector<double>> query, key, value;

  std::size_t count() const { return query.size(); }
  Tokens permuted(std::span<const std::size_t> order) const;  ///< token i is the old token order[i]
};

Tokens random_tokens(Samples& samples, std::int64_t count, std::int64_t width);

struct SmallAttention {
  std::vector<std::vector<double>> output;  ///< [heads x tokens], each as wide as a token
  std::size_t tokens = 0;
  double score_size = 0;  ///< at least the sum of the absolute values of the terms of any score
  double value_size = 0;  ///< the largest |value|

  /// Bounds the error of the outputs by double arithmetic alone (the bound of attention.h with u = 2^-53).
  double rounding() const;
  /// Adds the effect of cos and sin that are off by `entry_error`: a rotated vector is off by twice that relative to
  /// its length, a score by four times relative to its size, and a softmax by twice its scores.
  double bound(double entry_error) const { return rounding() + 8 * entry_error * score_size * value_size; }
};

/// Computes softmax(scale q.k + position term) v without a mask. Hidden rows are added to queries, keys and values.
/// Uses up to four heads, evenly spaced.
SmallAttention attend_small(const Subject& subject, const Tokens& tokens, std::span<const Position> ids);

/// Returns the largest difference between output i of `b` and output order[i] of `a`.
double difference_after(const SmallAttention& a, const SmallAttention& b, std::span<const std::size_t> order);

}  // namespace locus::doctor
