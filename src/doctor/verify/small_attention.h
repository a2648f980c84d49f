// SPDX-License-Identifier: Apache-2.0
// Attention of a few tokens, every score written down in double, made of a subject's own functions.
#pragma once

#include "doctor/verify/samples.h"

namespace locus::doctor {

/// Queries, keys and values, one vector each per token; every head gets the same.
struct Tokens {
  std::vector<std::vector<double>> query, key, value;

  std::size_t count() const { return query.size(); }
  Tokens permuted(std::span<const std::size_t> order) const;  ///< token i is the old token order[i]
};

Tokens random_tokens(Samples& samples, std::int64_t count, std::int64_t width);

struct SmallAttention {
  std::vector<std::vector<double>> output;  ///< [heads x tokens], each as wide as a token
  std::size_t tokens = 0;
  double score_size = 0;  ///< at least the sum of the absolute values of which any score is made
  double value_size = 0;  ///< the largest |value|

  /// How far the outputs may be off by double arithmetic alone (the bound of attention.h with u = 2^-53).
  double rounding() const;
  /// And by cos and sin that are off by `entry_error`: each turned vector is off by twice that of its length, a score
  /// by four times of its size, and a softmax by twice its scores.
  double bound(double entry_error) const { return rounding() + 8 * entry_error * score_size * value_size; }
};

/// softmax(scale q.k + position term) v, no mask; hidden rows are added to queries, keys and values. Heads: all up to
/// four, else four of them spread out.
SmallAttention attend_small(const Subject& subject, const Tokens& tokens, std::span<const Position> ids);

/// The largest difference between output i of `b` and output order[i] of `a`.
double difference_after(const SmallAttention& a, const SmallAttention& b, std::span<const std::size_t> order);

}  // namespace locus::doctor
