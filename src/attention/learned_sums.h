// SPDX-License-Identifier: Apache-2.0
// The gradients of learned weights while they are being summed, in double. Every piece of work has its own sums; they
// are added up in the order of the pieces, so that the number of threads does not matter.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "attention/problem.h"
#include "locus/attention_backward.h"

namespace locus {

class LearnedSums {
 public:
  LearnedSums(const Problem& problem, const LearnedGradients& wanted);

  bool wants_bias() const { return !bias_table_.empty() || !bias_parameters_.empty(); }
  bool wants_key_rows() const { return !key_table_.empty() || !w_r_.empty(); }
  bool wants_value_rows() const { return !value_table_.empty(); }

  // `gradient` is that of the bias, of the row or of the number itself, its scale included.
  void add_sink(std::int64_t head, double gradient);
  void add_bias(std::int64_t head, Position query, Position key, double gradient);
  void add_key_row(std::int64_t head, Position query, Position key, const double* gradient);
  void add_value_row(Position query, Position key, const double* gradient);
  void add_u(std::int64_t head, std::int64_t j, double gradient);
  void add_v(std::int64_t head, std::int64_t j, double gradient);

  void add(const LearnedSums& other);
  void clear();
  void store(const LearnedGradients& to);

 private:
  using HeadOffset = std::pair<std::int64_t, Position>;
  void project_rows();

  const Problem& problem_;
  std::vector<double> sinks_, bias_table_, bias_parameters_, key_table_, value_table_, u_, v_, w_r_;
  /// Gradients of projected rows by query - key; they meet the sinusoid once, when all are there or too many are.
  std::map<HeadOffset, std::vector<double>> projected_;
};

}  // namespace locus
