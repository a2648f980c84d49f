// SPDX-License-Identifier: Apache-2.0
// The backward pass of attend(), for training: never holding queries x keys, probabilities are computed again in tiles.
//
// Queries and keys came rotated into attend(), so their gradients are those of the rotated vectors: rotate them with
// Direction::inverse (rotate.h) to get those of the vectors before.
#pragma once

#include <span>

#include "locus/attention.h"

namespace locus {

/// Gradients of learned weights, summed over the whole call in double. Empty: not wanted.
struct LearnedGradients {
  std::span<double> sink_logits = {};      ///< [heads]
  std::span<double> bias_table = {};       ///< of ScoreBias::table [buckets, heads]
  std::span<double> bias_parameters = {};  ///< of ScoreBias::parameters [heads, parameters]
  std::span<double> key_table = {};        ///< of RelativeKeys: as the tensors of the same names
  std::span<double> value_table = {};
  std::span<double> u = {}, v = {}, w_r = {};
};

/// The member that holds this gradient; null for hidden_rows, which attention does not see.
std::span<double> LearnedGradients::*gradient_member(LearnedGradient gradient);

/// `forward` is the call as attend() ran it, with its output and log_sum_exp (float64 needs no log_sum_exp). The
/// gradients have the type of the tensors they belong to and their extents (strides are free); those of query, key and
/// value are all written. Nothing may overlap.
struct AttentionGradientCall {
  AttentionCall forward;
  HeadsView output_gradient;
  HeadsView query_gradient, key_gradient, value_gradient;
  LearnedGradients learned = {};
};

/// Writes (does not add to) the gradients of sum(output x output_gradient). float32, bfloat16 and float16 compute in
/// float32, float64 in double (slowly); the same bits for any number of threads. Tiles that a mask hides are passed
/// over. Memory beyond the call's own: O((queries + keys) x head_dim) per thread. Threads share documents x key heads.
///
/// Error bound before the gradients' own rounding, with u, d, n, v and s of attend(), g = the largest
/// |output_gradient|, p = the weights that a gradient sums over, m = how many these are, r = one rounding of the
/// output:
///   E = (6 (d + 16) s (1 + 1 / soft_cap) + 6 n + 2 d + 4 |lse| + 96) u + r
///   query, key and learned weights: (E + 2 (m + 4) u) d g v x (sum of p |factor|), the factor being what the weight
///   meets in the score, times the scale; value: (E + (m + 1) u) g x (sum of p)
///
/// Shapes are checked first; on Error nothing is written.
AttentionWork attend_backward(const AttentionGradientCall& call);

}  // namespace locus
