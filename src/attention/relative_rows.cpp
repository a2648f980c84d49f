// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "attention/position_terms.h"
#include "locus/rows.h"

namespace locus {
namespace {

void project(const RelativeKeys& keys, std::int64_t head, std::span<const double> wave, double* row) {
  for (std::int64_t j = 0; j < keys.head_dim; ++j) {
    const std::span<const float> weights = keys.w_r.row(head * keys.head_dim + j);
    double sum = 0;
    for (std::size_t m = 0; m < wave.size(); ++m) sum += static_cast<double>(weights[m]) * wave[m];
    row[j] = sum;
  }
}

}  // namespace

void Problem::project_rows() {
  if (relative_ == nullptr || relative_->index) return;
  Position first = max_position, last = -max_position;
  for (const Document& s : documents_) {
    if (!s.ids_advance || s.keys == 0) continue;
    first = std::min(first, s.key_ids.front() - s.query_ids.back());
    last = std::max(last, s.key_ids.back() - s.query_ids.front());
  }
  if (future_unseen()) last = std::min<Position>(last, 0);
  constexpr std::int64_t most = std::int64_t{1} << 22;
  const std::int64_t row_size = relative_->heads * relative_->head_dim;
  if (last < first || last - first >= most / row_size) return;
  first_projected_ = first;
  projected_.resize(static_cast<std::size_t>((last - first + 1) * row_size));
  std::vector<double> wave(static_cast<std::size_t>(relative_->sinusoid.dim));
  double* row = projected_.data();
  for (Position offset = first; offset <= last; ++offset) {
    hidden_row(relative_->sinusoid, -offset, wave);
    for (std::int64_t head = 0; head < relative_->heads; ++head, row += relative_->head_dim) {
      project(*relative_, head, wave, row);
    }
  }
}

const double* Problem::projected_row(std::int64_t head, Position offset) const {
  const std::int64_t width = call_.query.heads * head_dim();
  if (offset < first_projected_ || offset >= first_projected_ + std::ssize(projected_) / width) return nullptr;
  return projected_.data() + (offset - first_projected_) * width + head * head_dim();
}

RelativeRows::RelativeRows(const Problem& problem, std::int64_t head, RowUse use)
    : problem_(problem),
      keys_(*problem.relative()),
      head_(head),
      table_(use == RowUse::key       ? keys_.key_table
             : use == RowUse::meeting ? keys_.meeting_table()
                                      : keys_.value_table),
      columns_(use == RowUse::key && keys_.column_index ? &keys_.column_table : nullptr) {}

// A table's row, or W_r R(distance) of this head.
void RelativeRows::compute(Position query, Position key, double* row) const {
  if (keys_.index) {
    const std::span<const float> chosen = keys_.row(table_, keys_.index(query, key), head_);
    for (std::size_t j = 0; j < chosen.size(); ++j) row[j] = static_cast<double>(chosen[j]);
    if (columns_ == nullptr) return;
    const std::span<const float> second = keys_.row(*columns_, keys_.column_index(query, key), head_);
    for (std::size_t j = 0; j < second.size(); ++j) row[j] += static_cast<double>(second[j]);
    return;
  }
  if (const double* ready = problem_.projected_row(head_, key - query)) {
    std::copy_n(ready, keys_.head_dim, row);
    return;
  }
  std::vector<double> wave(static_cast<std::size_t>(keys_.sinusoid.dim));
  hidden_row(keys_.sinusoid, query - key, wave);
  project(keys_, head_, wave, row);
}

const double* RelativeRows::row(Position query, Position key) {
  if (keys_.index || problem_.projected_row(head_, key - query) != nullptr) {  // a lookup is faster than the cache
    looked_up_.resize(static_cast<std::size_t>(keys_.head_dim));
    compute(query, key, looked_up_.data());
    return looked_up_.data();
  }
  constexpr std::size_t most = 4096;  // cached rows: enough for neighbours, and independent of queries x keys
  const auto found = kept_.find(key - query);
  if (found != kept_.end()) return found->second.data();
  if (kept_.size() >= most) kept_.clear();
  std::vector<double>& fresh = kept_[key - query];
  fresh.resize(static_cast<std::size_t>(keys_.head_dim));
  compute(query, key, fresh.data());
  return fresh.data();
}

}  // namespace locus
