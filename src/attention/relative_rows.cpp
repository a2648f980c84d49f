// SPDX-License-Identifier: Apache-2.0
#include "attention/position_terms.h"
#include "locus/rows.h"

namespace locus {

RelativeRows::RelativeRows(const RelativeKeys& keys, std::int64_t head, const Tensor& table)
    : keys_(keys), head_(head), table_(table) {}

// A table's row, or W_r R(distance) of this head.
void RelativeRows::compute(Position query, Position key, double* row) const {
  if (keys_.index) {
    const std::span<const float> chosen = table_.row(keys_.index(query, key));
    for (std::size_t j = 0; j < chosen.size(); ++j) row[j] = static_cast<double>(chosen[j]);
    return;
  }
  std::vector<double> wave(static_cast<std::size_t>(keys_.sinusoid.dim));
  hidden_row(keys_.sinusoid, query - key, wave);
  for (std::int64_t j = 0; j < keys_.head_dim; ++j) {
    const std::span<const float> weights = keys_.w_r.row(head_ * keys_.head_dim + j);
    double sum = 0;
    for (std::size_t m = 0; m < wave.size(); ++m) sum += static_cast<double>(weights[m]) * wave[m];
    row[j] = sum;
  }
}

const double* RelativeRows::row(Position query, Position key) {
  constexpr std::size_t most = 4096;  // rows kept: enough for neighbours, and never a matter of queries x keys
  const auto found = kept_.find(key - query);
  if (found != kept_.end()) return found->second.data();
  if (kept_.size() >= most) kept_.clear();
  std::vector<double>& fresh = kept_[key - query];
  fresh.resize(static_cast<std::size_t>(keys_.head_dim));
  compute(query, key, fresh.data());
  return fresh.data();
}

}  // namespace locus
