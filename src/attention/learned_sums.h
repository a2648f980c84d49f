// SPDX-License-Identifier: Apache-2.0
// Sums of the gradients of learned weights, in double. Every piece of work has separate sums, which are added in the
// order of the pieces, so the result does not depend on the number of threads.
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

  bool wants_bias() const { return !bias_table_.empty() || !bias_parameters_.empty() || !bias_network_.empty(); }
  bool wants_key_rows() const { return !key_table_.empty() || !column_table_.empty() || !w_r_.empty(); }
  /// The sums for rows that are multiplied by the key: separate ones, or those of the key table.
  bool wants_meeting_rows() const { return !query_table_.empty() || !key_table_.empty(); }
  bool wants_value_rows() const { return !value_table_.empty(); }

  // `gradient` is that of the bias, the row or the number, with its scale.
  void add_sink(std::int64_t head, double gradient);
  void add_bias(std::int64_t head, Position query, Position key, double gradient);
  /// The sums of a network (ScoreBias::network_weights), for those that add several pairs at once.
  std::span<double> bias_network() { return bias_network_; }
  void add_key_row(std::int64_t head, Position query, Position key, const double* gradient);
  /// Of a row of the key table that was not chosen by ids.
  void add_key_row_at(std::int64_t head, std::int64_t row, const double* gradient);
  void add_meeting_row(std::int64_t head, Position query, Position key, const double* gradient);
  void add_value_row(std::int64_t head, Position query, Position key, const double* gradient);
  void add_u(std::int64_t head, std::int64_t j, double gradient);
  void add_v(std::int64_t head, std::int64_t j, double gradient);
  void add_gate_mix(std::int64_t head, std::int64_t other, double gradient);

  void add(const LearnedSums& other);
  void clear();
  void store(const LearnedGradients& to);

 private:
  using HeadOffset = std::pair<std::int64_t, Position>;
  void project_rows();
  void add_row(std::vector<double>& table, std::int64_t row, std::int64_t head, const double* gradient) const;

  const Problem& problem_;
  std::vector<double> sinks_, bias_table_, bias_parameters_, bias_network_;
  std::vector<double> key_table_, query_table_, column_table_, value_table_, u_, v_, w_r_, gate_mix_;
  /// Gradients of projected rows by query - key. They are multiplied by the sinusoid once, at the end or when they
  /// are too many.
  std::map<HeadOffset, std::vector<double>> projected_;
};

}  // namespace locus
