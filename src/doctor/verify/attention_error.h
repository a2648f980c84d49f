// SPDX-License-Identifier: Apache-2.0
// Bounds the error of attend(), from the bounds that attention.h, rotate.h and add.h promise.
#pragma once

#include "doctor/verify/sample.h"

namespace locus::doctor {

/// Notation: u = unit roundoff of the type, d = head_dim, n = keys, s = magnitude, v = largest value, all of the exact
/// result.
class AttentionError {
 public:
  AttentionError(const Sample& sample, const Encoding& encoding, const Sample::Exact& exact, ElementType type);

  /// The error of attend() alone, for inputs as stored: (2 (d + 16) s + 4 n + 16) 2^-24 v, plus 2^-24 v for skipped
  /// keys, plus the rounding of the output.
  double of_attention(std::int64_t token, std::int64_t head, double output) const;

  /// The same with inexact inputs. Queries and keys are off by e |q| and e |k|, a score by 2 e scale |q| |k|, and the
  /// output by v times the relative change of the weights, e^(2 x that) - 1.
  double of_everything(std::int64_t token, std::int64_t head, double output) const;

  /// The error that merging partial results adds: two log-sum-exps per weight, the storage of the parts, and merge()
  /// itself.
  double of_merge(std::int64_t token, std::int64_t head) const;

  /// The error of an inexact table, which turns queries and keys at `position` by angles with this error.
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
