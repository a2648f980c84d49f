// SPDX-License-Identifier: Apache-2.0
// How far a result of attend() may be from the exact one, from what attention.h, rotate.h and add.h promise.
#pragma once

#include "doctor/verify/sample.h"

namespace locus::doctor {

/// u = unit roundoff of the type, d = head_dim, n = keys, s = magnitude, v = largest value, all of the exact result.
class AttentionError {
 public:
  AttentionError(const Sample& sample, const Encoding& encoding, const Sample::Exact& exact, ElementType type);

  /// attend() alone, for inputs as they are stored: (2 (d + 16) s + 4 n + 16) 2^-24 v, 2^-24 v for what is skipped,
  /// and the rounding of the output.
  double of_attention(std::int64_t token, std::int64_t head, double output) const;

  /// And that of the inputs: queries and keys are off by e |q| and e |k|, so that a score is off by 2 e scale |q| |k|
  /// and the output by v times the relative change of the weights, e^(2 x that) - 1.
  double of_everything(std::int64_t token, std::int64_t head, double output) const;

  /// What merging partial results adds: two log-sum-exps per weight, the parts' storage, merge()'s own.
  double of_merge(std::int64_t token, std::int64_t head) const;

  /// A table that is not exact turns queries and keys at `position` by angles that are off by this much.
  double of_angles(std::int64_t token, std::int64_t head, Position position) const;

 private:
  double before_rounding(std::int64_t token, std::int64_t head) const;
  std::size_t row(std::int64_t token, std::int64_t head) const;

  const Sample& sample_;
  const Encoding& encoding_;
  const Sample::Exact& exact_;
  ElementType type_;
  double input_error_ = 0;  // e
};

}  // namespace locus::doctor
