// SPDX-License-Identifier: Apache-2.0
// Checks on a model's real weights that the same tokens give the same logits, however they are read.
#pragma once

#include <span>
#include <vector>

#include "locus/doctor/check.h"
#include "probe/model.h"

namespace locus::probe {

/// Returns how much two orders of the same float32 sums may change a logit of this model, if `logits` are typical.
/// Each of about 8 sums per layer over at most `longest` terms has an error of sqrt(longest) 2^-24 of its size (a
/// random walk of roundings). Errors of the residual stream add up over the layers, twice, since both readings round.
/// A hidden state of relative error e changes a logit by e |w| |x|, and |w| |x| is about sqrt(dim) times the root
/// mean square of the logits, for rows w in random directions. A single row is multiplied with quantised weights in
/// integers (integer_row.h): each column is off by up to 2^-16 of the largest of 32, which is about 3 times their
/// root mean square; uniformly distributed, that is 2^-15 of a sum of any length.
double logit_bound(const ModelConfig& config, std::int64_t tokens, std::span<const float> logits);

/// Returns one check per way of reading `tokens` (at least 8): one at a time, in chunks, left padded, packed with
/// another sequence, through a forked cache; each compared with all at once. The value is the largest difference of a
/// logit.
std::vector<Check> check_model(const Model& model, std::span<const Token> tokens, Executor* executor = nullptr);

}  // namespace locus::probe
