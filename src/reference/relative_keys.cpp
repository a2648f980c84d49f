// SPDX-License-Identifier: Apache-2.0
#include "locus/reference.h"

namespace locus::reference {
namespace {

template <class A, class B>
double dot(std::span<const A> a, std::span<const B> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// (q + v) . (W_r R) + u . k for one head.
double transformer_xl_term(const RelativeKeys& keys, std::int64_t head, std::span<const double> query,
                           std::span<const double> key, Position distance) {
  const std::vector<double> row = hidden_row(keys.sinusoid, distance);
  double sum = dot(key, keys.u.row(head));
  for (std::int64_t j = 0; j < keys.head_dim; ++j) {
    const auto column = static_cast<std::size_t>(j);
    const double projected = dot(std::span<const double>(row), keys.w_r.row(head * keys.head_dim + j));
    sum += (query[column] + static_cast<double>(keys.v.row(head)[column])) * projected;
  }
  return sum;
}

}  // namespace

double relative_score(const RelativeKeys& keys, std::int64_t head, const QueryAndKey& pair, double scale) {
  const auto& [query, key, query_id, key_id] = pair;
  const double content = dot(query, key);
  double term = 0;
  if (keys.index) {
    const std::span<const float> row = keys.key_table.row(keys.index(query_id, key_id));
    term = dot(query, row) + (keys.meets_key ? dot(key, row) : 0.0);
  } else {
    term = transformer_xl_term(keys, head, query, key, query_id - key_id);
  }
  return content * scale + term * (keys.scaled ? scale : 1.0);
}

}  // namespace locus::reference
