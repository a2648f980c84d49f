// SPDX-License-Identifier: Apache-2.0
#include "attention/learned_sums.h"

#include <algorithm>

#include "locus/rows.h"

namespace locus {
namespace {

void add_to(std::vector<double>& sum, const std::vector<double>& more) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
}

void add_one(std::vector<double>& sum, std::int64_t at, double more) {
  if (!sum.empty()) sum[static_cast<std::size_t>(at)] += more;
}

constexpr std::size_t most_projected = 65536;

}  // namespace

LearnedSums::LearnedSums(const Problem& problem, const LearnedGradients& wanted)
    : problem_(problem),
      sinks_(wanted.sink_logits.size()),
      bias_table_(wanted.bias_table.size()),
      bias_parameters_(wanted.bias_parameters.size()),
      bias_network_(wanted.bias_network.size()),
      key_table_(wanted.key_table.size()),
      query_table_(wanted.query_table.size()),
      column_table_(wanted.column_table.size()),
      value_table_(wanted.value_table.size()),
      u_(wanted.u.size()),
      v_(wanted.v.size()),
      w_r_(wanted.w_r.size()),
      gate_mix_(wanted.gate_mix.size()) {}

void LearnedSums::add_sink(std::int64_t head, double gradient) { add_one(sinks_, head, gradient); }

void LearnedSums::add_bias(std::int64_t head, Position query, Position key, double gradient) {
  const ScoreBias& bias = *problem_.bias();
  if (!bias_table_.empty()) add_one(bias_table_, bias.bucket(query, key) * bias.heads + head, gradient);
  if (!bias_network_.empty()) bias.add_network_gradient(head, query, key, gradient, bias_network_);
  if (bias_parameters_.empty()) return;
  std::vector<double> slopes(static_cast<std::size_t>(bias.parameters));
  bias.parameter_slopes(head, query, key, slopes);
  for (std::int64_t i = 0; i < bias.parameters; ++i) {
    add_one(bias_parameters_, head * bias.parameters + i, gradient * slopes[static_cast<std::size_t>(i)]);
  }
}

void LearnedSums::add_row(std::vector<double>& table, std::int64_t row, std::int64_t head,
                          const double* gradient) const {
  const RelativeKeys& keys = *problem_.relative();
  const std::int64_t first = (keys.per_head ? row * keys.heads + head : row) * keys.head_dim;
  for (std::int64_t j = 0; j < keys.head_dim; ++j) add_one(table, first + j, gradient[j]);
}

void LearnedSums::add_key_row(std::int64_t head, Position query, Position key, const double* gradient) {
  const RelativeKeys& keys = *problem_.relative();
  if (!key_table_.empty()) add_row(key_table_, keys.index(query, key), head, gradient);
  if (!column_table_.empty()) add_row(column_table_, keys.column_index(query, key), head, gradient);
  if (w_r_.empty()) return;
  std::vector<double>& sum = projected_[{head, query - key}];
  sum.resize(static_cast<std::size_t>(keys.head_dim));
  for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += gradient[j];
  if (projected_.size() >= most_projected) project_rows();
}

void LearnedSums::add_key_row_at(std::int64_t head, std::int64_t row, const double* gradient) {
  if (!key_table_.empty()) add_row(key_table_, row, head, gradient);
}

void LearnedSums::add_meeting_row(std::int64_t head, Position query, Position key, const double* gradient) {
  const RelativeKeys& keys = *problem_.relative();
  add_row(keys.query_table.data.empty() ? key_table_ : query_table_, keys.index(query, key), head, gradient);
}

void LearnedSums::add_value_row(std::int64_t head, Position query, Position key, const double* gradient) {
  add_row(value_table_, problem_.relative()->index(query, key), head, gradient);
}

void LearnedSums::add_u(std::int64_t head, std::int64_t j, double gradient) {
  add_one(u_, head * problem_.head_dim() + j, gradient);
}
void LearnedSums::add_v(std::int64_t head, std::int64_t j, double gradient) {
  add_one(v_, head * problem_.head_dim() + j, gradient);
}
void LearnedSums::add_gate_mix(std::int64_t head, std::int64_t other, double gradient) {
  add_one(gate_mix_, head * problem_.relative()->heads + other, gradient);
}

// row = W_r R(distance), so that W_r gets gradient x R(distance)^T.
void LearnedSums::project_rows() {
  const RelativeKeys& keys = *problem_.relative();
  std::vector<double> wave(static_cast<std::size_t>(keys.sinusoid.dim));
  for (const auto& [place, gradient] : projected_) {
    hidden_row(keys.sinusoid, place.second, wave);
    double* rows = w_r_.data() + place.first * keys.head_dim * keys.sinusoid.dim;
    for (const double g : gradient) {
      for (std::size_t m = 0; m < wave.size(); ++m) rows[m] += g * wave[m];
      rows += wave.size();
    }
  }
  projected_.clear();
}

void LearnedSums::add(const LearnedSums& other) {
  add_to(sinks_, other.sinks_);
  add_to(bias_table_, other.bias_table_);
  add_to(bias_parameters_, other.bias_parameters_);
  add_to(bias_network_, other.bias_network_);
  add_to(key_table_, other.key_table_);
  add_to(query_table_, other.query_table_);
  add_to(column_table_, other.column_table_);
  add_to(value_table_, other.value_table_);
  add_to(u_, other.u_);
  add_to(v_, other.v_);
  add_to(w_r_, other.w_r_);
  add_to(gate_mix_, other.gate_mix_);
  for (const auto& [place, gradient] : other.projected_) {
    std::vector<double>& sum = projected_[place];
    sum.resize(gradient.size());
    add_to(sum, gradient);
  }
  if (projected_.size() >= most_projected) project_rows();
}

void LearnedSums::clear() {
  for (std::vector<double>* sum : {&sinks_, &bias_table_, &bias_parameters_, &bias_network_, &key_table_, &query_table_,
                                   &column_table_, &value_table_, &u_, &v_, &w_r_, &gate_mix_}) {
    std::fill(sum->begin(), sum->end(), 0.0);
  }
  projected_.clear();
}

void LearnedSums::store(const LearnedGradients& to) {
  if (!w_r_.empty()) project_rows();
  const auto copy = [](const std::vector<double>& from, std::span<double> into) {
    std::copy(from.begin(), from.end(), into.begin());
  };
  copy(sinks_, to.sink_logits);
  copy(bias_table_, to.bias_table);
  copy(bias_parameters_, to.bias_parameters);
  copy(bias_network_, to.bias_network);
  copy(key_table_, to.key_table);
  copy(query_table_, to.query_table);
  copy(column_table_, to.column_table);
  copy(value_table_, to.value_table);
  copy(u_, to.u);
  copy(v_, to.v);
  copy(w_r_, to.w_r);
  copy(gate_mix_, to.gate_mix);
}

}  // namespace locus
