// SPDX-License-Identifier: Apache-2.0
// Attention row by row in double, for float64 and for the probabilities of single queries. Memory: one row of scores.
#include <algorithm>
#include <vector>

#include "attention/attend.h"
#include "attention/double_head.h"

namespace locus {
namespace {

void attend_query(const Problem& problem, const Document& document, std::int64_t head, HeadInDouble& rows,
                  std::int64_t query, std::vector<double>& weights) {
  const double lse = rows.probabilities(query, weights);
  std::vector<double> sum(static_cast<std::size_t>(problem.head_dim()), 0.0);
  for (std::int64_t key = 0; key < document.keys; ++key) {
    const double weight = weights[static_cast<std::size_t>(key)];
    if (weight == 0) continue;
    const std::vector<double> v = rows.vector(problem.call().value, document.first_key + key, rows.key_head());
    const double* relative = rows.relative_value(query, key);
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += weight * (v[j] + (relative == nullptr ? 0 : relative[j]));
  }
  const std::int64_t token = document.first_query + query;
  std::copy(sum.begin(), sum.end(),
            reinterpret_cast<double*>(Problem::row(problem.call().output, document.batch, token, head)));
  if (float* to = problem.log_sum_exp(document.batch, head, token)) *to = static_cast<float>(lse);
}

}  // namespace

void attend_in_double(const Problem& problem) {
  const std::int64_t heads = problem.call().query.heads;
  const std::int64_t units = static_cast<std::int64_t>(problem.documents().size()) * heads;
  for_ranges(problem.call().executor, units, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> weights;
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const Document& document = problem.documents()[static_cast<std::size_t>(unit / heads)];
      HeadInDouble head(problem, document, unit % heads);
      for (std::int64_t query = 0; query < document.queries; ++query) {
        attend_query(problem, document, unit % heads, head, query, weights);
      }
    }
  });
}

void store_probabilities(const Problem& problem) {
  const AttentionCall& call = problem.call();
  const auto wanted = static_cast<std::int64_t>(call.rows_wanted.size());
  if (wanted == 0) return;
  const std::int64_t keys = call.key.tokens;
  std::fill_n(call.probabilities, call.query.batch * call.query.heads * wanted * keys, 0.0f);
  std::vector<double> weights;
  for (const Document& document : problem.documents()) {
    for (std::int64_t head = 0; head < call.query.heads; ++head) {
      HeadInDouble one(problem, document, head);
      for (std::int64_t i = 0; i < wanted; ++i) {
        const std::int64_t query = call.rows_wanted[static_cast<std::size_t>(i)] - document.first_query;
        if (query < 0 || query >= document.queries) continue;
        one.probabilities(query, weights);
        float* to = call.probabilities + ((document.batch * call.query.heads + head) * wanted + i) * keys;
        for (std::int64_t key = 0; key < document.keys; ++key) {
          to[document.first_key + key] = static_cast<float>(weights[static_cast<std::size_t>(key)]);
        }
      }
    }
  }
}

}  // namespace locus
