// SPDX-License-Identifier: Apache-2.0
// Attention row by row in double: for float64, and for the probabilities of single queries. Memory: one row of scores.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attention/attend.h"
#include "attention/position_terms.h"

namespace locus {
namespace {

double element_at(const HeadsView& view, const std::byte* row, std::int64_t j) {
  switch (view.type) {
    case ElementType::float32:
      return static_cast<double>(reinterpret_cast<const float*>(row)[j]);
    case ElementType::float64:
      return reinterpret_cast<const double*>(row)[j];
    case ElementType::bfloat16:
      return static_cast<double>(to_float(reinterpret_cast<const BFloat16*>(row)[j]));
    case ElementType::float16:
      return static_cast<double>(to_float(reinterpret_cast<const Float16*>(row)[j]));
  }
  return 0;
}

/// One head of a stretch.
class HeadInDouble {
 public:
  HeadInDouble(const Problem& problem, const Stretch& stretch, std::int64_t head)
      : p_(problem), s_(stretch), head_(head), dim_(problem.head_dim()), keys_(problem.relative()) {
    if (keys_ == nullptr) return;
    key_rows_.emplace_back(*keys_, head, keys_->key_table);
    if (!keys_->value_table.data.empty()) value_rows_.emplace_back(*keys_, head, keys_->value_table);
  }

  /// Fills `weights` [keys of the stretch] with probabilities and returns the log-sum-exp.
  double probabilities(std::int64_t query, std::vector<double>& weights) {
    weights.assign(static_cast<std::size_t>(s_.keys), -HUGE_VAL);
    const std::vector<double> q = vector(p_.call().query, s_.first_query + query, head_);
    const std::span<const float> sinks = p_.call().sink_logits;
    const double sink = sinks.empty() ? -HUGE_VAL : static_cast<double>(sinks[static_cast<std::size_t>(head_)]);
    double top = sink;
    for (std::int64_t key = 0; key < s_.keys; ++key) {
      if (!p_.sees(s_, head_, query, key)) continue;
      double& score = weights[static_cast<std::size_t>(key)];
      score = score_of(q, query, key);
      top = score <= top ? top : score;
    }
    if (top == -HUGE_VAL) {
      std::fill(weights.begin(), weights.end(), 0.0);
      return top;
    }
    double total = std::exp(sink - top);
    for (double& weight : weights) total += weight = std::exp(weight - top);
    for (double& weight : weights) weight /= total;
    return top + std::log(total);
  }

  void attend(std::int64_t query, std::vector<double>& weights) {
    const double lse = probabilities(query, weights);
    std::vector<double> sum(static_cast<std::size_t>(dim_), 0.0);
    for (std::int64_t key = 0; key < s_.keys; ++key) {
      const double weight = weights[static_cast<std::size_t>(key)];
      if (weight == 0) continue;
      const std::vector<double> v = vector(p_.call().value, s_.first_key + key, head_ / p_.group());
      const double* relative = value_rows_.empty() ? nullptr : value_rows_[0].row(query_id(query), key_id(key));
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += weight * (v[j] + (relative == nullptr ? 0 : relative[j]));
    }
    const std::int64_t token = s_.first_query + query;
    std::copy(sum.begin(), sum.end(),
              reinterpret_cast<double*>(Problem::row(p_.call().output, s_.batch, token, head_)));
    if (float* to = p_.log_sum_exp(s_.batch, head_, token)) *to = static_cast<float>(lse);
  }

 private:
  Position query_id(std::int64_t query) const { return s_.query_ids[static_cast<std::size_t>(query)]; }
  Position key_id(std::int64_t key) const { return s_.key_ids[static_cast<std::size_t>(key)]; }

  std::vector<double> vector(const HeadsView& view, std::int64_t token, std::int64_t head) const {
    const std::byte* row = Problem::row(view, s_.batch, token, head);
    std::vector<double> values(static_cast<std::size_t>(dim_));
    for (std::int64_t j = 0; j < dim_; ++j) values[static_cast<std::size_t>(j)] = element_at(view, row, j);
    return values;
  }

  double score_of(const std::vector<double>& q, std::int64_t query, std::int64_t key) {
    const std::vector<double> k = vector(p_.call().key, s_.first_key + key, head_ / p_.group());
    double content = 0;
    for (std::size_t j = 0; j < q.size(); ++j) content += q[j] * k[j];
    double score = content * p_.scale();
    if (keys_ != nullptr) score += relative_term(q, k, query, key) * (keys_->scaled ? p_.scale() : 1.0);
    const double cap = p_.call().soft_cap;
    if (cap > 0) score = cap * std::tanh(score / cap);
    if (const ScoreBias* bias = p_.bias()) {
      score += bias->value(head_, query_id(query), key_id(key)) * (bias->before_scale ? p_.scale() : 1.0);
    }
    return score;
  }

  double relative_term(const std::vector<double>& q, const std::vector<double>& k, std::int64_t query,
                       std::int64_t key) {
    const double* row = key_rows_[0].row(query_id(query), key_id(key));
    const bool biased = !keys_->u.data.empty();
    double sum = 0;
    for (std::size_t j = 0; j < q.size(); ++j) {
      const double v = biased ? static_cast<double>(keys_->v.row(head_)[j]) : 0;
      sum += (q[j] + v + (keys_->meets_key ? k[j] : 0)) * row[j];
      if (biased) sum += static_cast<double>(keys_->u.row(head_)[j]) * k[j];
    }
    return sum;
  }

  const Problem& p_;
  const Stretch& s_;
  std::int64_t head_, dim_;
  const RelativeKeys* keys_;
  std::vector<RelativeRows> key_rows_, value_rows_;  // one or none
};

}  // namespace

void attend_in_double(const Problem& problem) {
  const std::int64_t heads = problem.call().query.heads;
  const std::int64_t units = static_cast<std::int64_t>(problem.stretches().size()) * heads;
  for_ranges(problem.call().executor, units, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> weights;
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const Stretch& stretch = problem.stretches()[static_cast<std::size_t>(unit / heads)];
      HeadInDouble head(problem, stretch, unit % heads);
      for (std::int64_t query = 0; query < stretch.queries; ++query) head.attend(query, weights);
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
  for (const Stretch& stretch : problem.stretches()) {
    for (std::int64_t head = 0; head < call.query.heads; ++head) {
      HeadInDouble one(problem, stretch, head);
      for (std::int64_t i = 0; i < wanted; ++i) {
        const std::int64_t query = call.rows_wanted[static_cast<std::size_t>(i)] - stretch.first_query;
        if (query < 0 || query >= stretch.queries) continue;
        one.probabilities(query, weights);
        float* to = call.probabilities + ((stretch.batch * call.query.heads + head) * wanted + i) * keys;
        for (std::int64_t key = 0; key < stretch.keys; ++key) {
          to[stretch.first_key + key] = static_cast<float>(weights[static_cast<std::size_t>(key)]);
        }
      }
    }
  }
}

}  // namespace locus
