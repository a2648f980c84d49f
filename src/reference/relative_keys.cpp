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
    const auto row_of = [&](const Tensor& table, std::int64_t index) {
      const std::int64_t width = keys.per_head ? keys.heads * keys.head_dim : keys.head_dim;
      const std::int64_t first = index * width + (keys.per_head ? head * keys.head_dim : 0);
      return std::span<const float>(table.data)
          .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(keys.head_dim));
    };
    const std::int64_t index = keys.index(query_id, key_id);
    term = dot(query, row_of(keys.key_table, index));
    if (keys.column_index) term += dot(query, row_of(keys.column_table, keys.column_index(query_id, key_id)));
    if (keys.meets_key) term += dot(key, row_of(keys.key_table, index));
    if (!keys.query_table.data.empty()) term += dot(key, row_of(keys.query_table, index));
  } else {
    term = transformer_xl_term(keys, head, query, key, query_id - key_id);
  }
  return content * scale + term * (keys.scaled ? scale : 1.0);
}

}  // namespace locus::reference
