// SPDX-License-Identifier: Apache-2.0
// The verifier's equivalences on a model's real weights: the same tokens give the same logits, however they are read.
#pragma once

#include <span>
#include <vector>

#include "locus/doctor/check.h"
#include "probe/model.h"

namespace locus::probe {

/// How far apart two orders of the same float32 sums may put a logit of this model, when `logits` are typical. Each of
/// about 8 sums per layer over at most `longest` terms errs by sqrt(longest) 2^-24 of its size (a random walk of
/// roundings); errors of the residual stream add up over the layers, twice, for both readings round. What a hidden
/// state of relative error e does to a logit is e |w| |x|, and |w| |x| is about sqrt(dim) times the root mean square of
/// the logits, for rows w that point everywhere. One row at a time meets quantised weights in integers (integer_row.h),
/// each column off by up to 2^-16 of the largest of 32, which is about 3 times their root mean square: evenly spread,
/// that is 2^-15 of a sum, whatever its length.
double logit_bound(const ModelConfig& config, std::int64_t tokens, std::span<const float> logits);

/// One line per way of reading `tokens` (at least 8): one at a time, in chunks, left padded, packed with another
/// sequence, through a forked cache; against all at once. The value is the largest difference of any logit.
std::vector<Check> check_model(const Model& model, std::span<const Token> tokens, Executor* executor = nullptr);

}  // namespace locus::probe
