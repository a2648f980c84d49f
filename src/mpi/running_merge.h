// SPDX-License-Identifier: Apache-2.0
// Attention over all keys from attention over pieces of them, one after another, in float32.
#pragma once

#include <vector>

#include "locus/mpi/ring_attention.h"

namespace locus::mpi {

/// For every query, with parts o_i and their log-sum-exps l_i so far:
///   top = max l_i,   total = sum e^(l_i - top),   sum = sum e^(l_i - top) o_i
/// The output is sum / total and the log-sum-exp top + ln total. One part alone keeps its bits.
class RunningMerge {
 public:
  /// Shape of the own queries.
  RunningMerge(std::int64_t batch, std::int64_t tokens, std::int64_t heads, std::int64_t dim);

  /// Adds a part of the queries from `first` on: a contiguous float32 view and [batch, heads, its tokens].
  void add(std::int64_t first, const HeadsView& part, const float* log_sum_exp);
  /// Divides; afterwards output() and log_sum_exp() are those over all keys. Queries without a part get 0 and -infinity.
  void finish();

  const std::vector<float>& output() const { return sum_; }       ///< [batch][tokens][heads][dim]
  const std::vector<float>& log_sum_exp() const { return top_; }  ///< [batch, heads, tokens]

 private:
  std::int64_t batch_, tokens_, heads_, dim_;
  std::vector<float> sum_, top_;
  std::vector<double> total_;
};

}  // namespace locus::mpi
