// SPDX-License-Identifier: Apache-2.0
// The backward pass row by row in double, from the definition. With p = softmax(score), o = sum p (v + b), g = do:
//   dp = g . (v + b),  D = sum p dp,  ds = p (dp - D),  dv += p g,  db += p g,  d sink = -p_sink D
// Where offsets are remapped, q.k is (A q).(B k) with rotations A and B of the pair's region: dq gets A^T B k.
// A score bias gets ds; terms under the soft cap get ds x slope; a score is
//   scale q.k + relative_scale ((q + v_bias) . row [+ k . meeting row] + u . k).
#include <algorithm>
#include <cmath>
#include <vector>

#include "attention/backward.h"
#include "attention/double_head.h"
#include "attention/stored_row.h"
#include "attention/term_gradients.h"

namespace locus {
namespace {

double number(const Tensor& table, std::int64_t row, std::size_t j) {
  return table.data.empty() ? 0 : static_cast<double>(table.row(row)[j]);
}

/// Gradients of one key head, [keys][dim].
struct KeyGradients {
  std::vector<double> key, value;
};

/// One query head. It adds to the gradients of the keys and values of its key head.
class HeadBackward {
 public:
  HeadBackward(const Problem& problem, const AttentionGradientCall& call, const Document& document, std::int64_t head,
               LearnedSums& learned, KeyGradients& gradients)
      : problem_(problem),
        call_(call),
        document_(document),
        head_(head),
        dim_(static_cast<std::size_t>(problem.head_dim())),
        rows_(problem, document, head),
        numbers_(problem, call, document, head),
        learned_(learned),
        gradients_(gradients) {}

  void finish() const { numbers_.store(); }

  void run(std::int64_t query) {
    const double lse = rows_.probabilities(query, weights_, &slopes_);
    const std::int64_t token = document_.first_query + query;
    const std::vector<double> g = rows_.vector(call_.output_gradient, token, head_);
    const std::vector<double> q = rows_.vector(call_.forward.query, token, head_);
    const double mean = take_values(query, g);
    const std::span<const float> sinks = call_.forward.sink_logits;
    if (!sinks.empty() && lse > -HUGE_VAL) {
      const double sink = static_cast<double>(sinks[static_cast<std::size_t>(head_)]);
      learned_.add_sink(head_, -std::exp(sink - lse) * mean);
    }
    std::vector<double> query_gradient(dim_, 0.0);
    for (std::int64_t key = 0; key < document_.keys; ++key) {
      const double weight = weights_[static_cast<std::size_t>(key)];
      if (weight == 0) continue;
      const double ds = weight * (products_[static_cast<std::size_t>(key)] - mean);
      if (learned_.wants_bias()) {
        learned_.add_bias(head_, query_id(query), key_id(key), ds * problem_.bias_scale());
      }
      numbers_.add(query, key, ds);
      take_score(query, key, ds * slopes_[static_cast<std::size_t>(key)], q, query_gradient);
    }
    store_row(query_gradient.data(), call_.query_gradient, {document_.batch, token, head_});
  }

 private:
  Position query_id(std::int64_t query) const { return document_.query_ids[static_cast<std::size_t>(query)]; }
  Position key_id(std::int64_t key) const { return document_.key_ids[static_cast<std::size_t>(key)]; }

  // The products g . (v + b), and their mean.
  double take_values(std::int64_t query, const std::vector<double>& g) {
    products_.assign(weights_.size(), 0.0);
    std::vector<double> part(dim_);
    double mean = 0;
    for (std::int64_t key = 0; key < document_.keys; ++key) {
      const double weight = weights_[static_cast<std::size_t>(key)];
      if (weight == 0) continue;
      const std::vector<double> v = rows_.vector(call_.forward.value, document_.first_key + key, rows_.key_head());
      const double* relative = rows_.relative_value(query, key);
      double& product = products_[static_cast<std::size_t>(key)];
      for (std::size_t j = 0; j < dim_; ++j) {
        product += g[j] * (v[j] + (relative == nullptr ? 0 : relative[j]));
        part[j] = weight * g[j];
        gradients_.value[static_cast<std::size_t>(key) * dim_ + j] += part[j];
      }
      if (learned_.wants_value_rows()) learned_.add_value_row(head_, query_id(query), key_id(key), part.data());
      mean += weight * product;
    }
    return mean;
  }

  void take_score(std::int64_t query, std::int64_t key, double ds, const std::vector<double>& q,
                  std::vector<double>& query_gradient) {
    const std::vector<double> k = rows_.vector(call_.forward.key, document_.first_key + key, rows_.key_head());
    double* key_gradient = gradients_.key.data() + static_cast<std::size_t>(key) * dim_;
    const std::vector<double> seen_by_query = rows_.as_query_sees(query, key, k),
                              seen_by_key = rows_.as_key_sees(query, key, q);
    for (std::size_t j = 0; j < dim_; ++j) {
      query_gradient[j] += ds * problem_.scale() * seen_by_query[j];
      key_gradient[j] += ds * problem_.scale() * seen_by_key[j];
    }
    const RelativeKeys* keys = problem_.relative();
    if (keys == nullptr) return;
    const double term = ds * problem_.relative_scale();
    const double* row = rows_.relative_key(query, key);
    const double* meeting = rows_.meeting_row(query, key);
    std::vector<double> row_gradient(dim_), meeting_gradient(dim_);
    for (std::size_t j = 0; j < dim_; ++j) {
      query_gradient[j] += term * row[j];
      key_gradient[j] += term * (number(keys->u, head_, j) + (meeting != nullptr ? meeting[j] : 0));
      row_gradient[j] = term * (q[j] + number(keys->v, head_, j));
      meeting_gradient[j] = term * k[j];
      learned_.add_u(head_, static_cast<std::int64_t>(j), term * k[j]);
      learned_.add_v(head_, static_cast<std::int64_t>(j), term * row[j]);
    }
    if (learned_.wants_key_rows()) learned_.add_key_row(head_, query_id(query), key_id(key), row_gradient.data());
    if (meeting == nullptr || !learned_.wants_meeting_rows()) return;
    learned_.add_meeting_row(head_, query_id(query), key_id(key), meeting_gradient.data());
  }

  const Problem& problem_;
  const AttentionGradientCall& call_;
  const Document& document_;
  std::int64_t head_;
  std::size_t dim_;
  HeadInDouble rows_;
  NumberGradient numbers_;
  LearnedSums& learned_;
  KeyGradients& gradients_;
  std::vector<double> weights_, slopes_, products_;
};

void store(const std::vector<double>& rows, const HeadsView& view, const Document& document, std::int64_t head) {
  const std::int64_t dim = view.head_dim;
  for (std::int64_t key = 0; key < document.keys; ++key) {
    store_row(rows.data() + key * dim, view, {document.batch, document.first_key + key, head});
  }
}

}  // namespace

void backward_in_double(const Problem& problem, const AttentionGradientCall& call, const Document& document,
                        std::int64_t key_head, LearnedSums& learned) {
  const std::vector<double> zeros(static_cast<std::size_t>(document.keys * problem.head_dim()), 0.0);
  KeyGradients gradients{zeros, zeros};
  for (std::int64_t head = key_head * problem.group(); head < (key_head + 1) * problem.group(); ++head) {
    HeadBackward backward(problem, call, document, head, learned, gradients);
    for (std::int64_t query = 0; query < document.queries; ++query) backward.run(query);
    backward.finish();
  }
  store(gradients.key, call.key_gradient, document, key_head);
  store(gradients.value, call.value_gradient, document, key_head);
}

}  // namespace locus
