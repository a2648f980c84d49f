// SPDX-License-Identifier: Apache-2.0
// The backward pass of attend(), for training. It recomputes probabilities tile by tile, without a queries x keys
// matrix.
//
// attend() takes rotated queries and keys, so these are the gradients of the rotated vectors. Rotate them with
// Direction::inverse (rotate.h) to get the gradients of the unrotated vectors.
#pragma once

#include <span>

#include "locus/attention.h"

namespace locus {

/// Gradients of learned weights, summed over the whole call in double. An empty span is not computed.
struct LearnedGradients {
  std::span<double> sink_logits = {};      ///< [heads]
  std::span<double> bias_table = {};       ///< of ScoreBias::table [buckets, heads]
  std::span<double> bias_parameters = {};  ///< of ScoreBias::parameters [heads, parameters]
  std::span<double> bias_network = {};     ///< of ScoreBias::network_weights
  std::span<double> key_table = {};        ///< of RelativeKeys: shaped like the tensors of the same names
  std::span<double> query_table = {}, column_table = {}, value_table = {};
  std::span<double> u = {}, v = {}, w_r = {}, gate_mix = {};
  std::span<double> phases = {};  ///< of Polar [heads, channels]; to_polar_backward() computes it, not attention
};

/// Returns the member that holds this gradient; null for hidden_rows, which attention does not see.
std::span<double> LearnedGradients::*gradient_member(LearnedGradient gradient);

/// `forward` is the call that attend() ran, with its output and log_sum_exp (float64 needs no log_sum_exp). Each
/// gradient has the type and the extents of its tensor; strides are free. The gradients of query, key and value are
/// written completely. No two tensors may overlap.
struct AttentionGradientCall {
  AttentionCall forward;
  HeadsView output_gradient;
  HeadsView query_gradient, key_gradient, value_gradient;
  /// Of query_numbers and key_numbers; of float64, written completely. Without data they are not computed.
  HeadsView query_numbers_gradient = {}, key_numbers_gradient = {};
  LearnedGradients learned = {};
};

/// Writes the gradients of sum(output x output_gradient); it does not add to them. float32, bfloat16 and float16
/// compute in float32, float64 in double (slowly). The result has the same bits for any number of threads.
/// Error: shapes or types that do not match, a missing log_sum_exp. They are checked first; nothing is written then.
///
/// Accuracy before the gradients are rounded, with u, d, n, v and s of attend(), g = the largest |output_gradient|, p
/// = the weights that a gradient sums over, m = their number, r = one rounding of the output:
///   E = (6 (d + 16) s (1 + 1 / soft_cap) + 6 n + 2 d + 4 |lse| + 96) u + r
///   query, key and learned weights: (E + 2 (m + 4) u) d g v x (sum of p |factor|), where factor is what multiplies the
///   weight in the score, times the scale; value: (E + (m + 1) u) g x (sum of p)
///
/// Cost: O(visible tiles x head_dim) time; masked tiles are skipped. O((queries + keys) x head_dim) memory per thread
/// beyond the call's own. Threads split the work by document and key head.
AttentionWork attend_backward(const AttentionGradientCall& call);

}  // namespace locus
