// SPDX-License-Identifier: Apache-2.0
// The backward pass of rows chosen by counting, row by row in double. With a_t = scale q.k_t, gates g_t of a_t (or of a
// mix of all heads' a_t), P_j = sum of g_t over the visible keys t >= j, and E(P) between two rows of the table, a score
// is a_j + q . E(P_j). Given its gradient ds_j:
//   dP_j = ds_j q . E'(P_j), 0 where P_j is at the last row;  dg_t = sum of dP_j over j <= t;
//   da_t = ds_t + the sum over the heads whose gate a_t takes part in of dg_t g_t (1 - g_t) times its share.
// Keys are taken from the first to the last: P_j is what all visible keys count less the gates before j, and the sum of dP
// so far is at hand. So a shard of the keys needs two numbers per query from the shards before it.
#include <algorithm>
#include <cmath>

#include "attention/backward.h"
#include "attention/double_head.h"
#include "attention/stored_row.h"

namespace locus {
namespace {

using Rows = std::vector<std::vector<double>>;

void add_times(std::vector<double>& to, double factor, const std::vector<double>& row) {
  for (std::size_t j = 0; j < to.size(); ++j) to[j] += factor * row[j];
}

/// All heads of one document: gates may mix them.
class CountedBackward {
 public:
  CountedBackward(const Problem& problem, const AttentionGradientCall& call, const Document& document,
                  LearnedSums& learned)
      : problem_(problem),
        call_(call),
        document_(document),
        keys_(*problem.relative()),
        learned_(learned),
        heads_(call.forward.query.heads),
        dim_(static_cast<std::size_t>(problem.head_dim())),
        key_gradient_(count(call.forward.key.heads * document.keys), std::vector<double>(dim_)),
        value_gradient_(key_gradient_) {
    for (std::int64_t head = 0; head < heads_; ++head) rows_.emplace_back(problem, document, head);
  }

  void run() {
    for (std::int64_t query = 0; query < document_.queries; ++query) take_query(query);
    for (std::int64_t head = 0; head < call_.forward.key.heads; ++head) {
      for (std::int64_t key = 0; key < document_.keys; ++key) {
        const RowPlace place{document_.batch, document_.first_key + key, head};
        store_row(key_gradient_[count(head * document_.keys + key)].data(), call_.key_gradient, place);
        store_row(value_gradient_[count(head * document_.keys + key)].data(), call_.value_gradient, place);
      }
    }
  }

 private:
  static std::size_t count(std::int64_t n) { return static_cast<std::size_t>(n); }
  std::size_t key_row(std::int64_t head, std::int64_t key) const {
    return count(head / problem_.group() * document_.keys + key);
  }
  std::vector<double> key_of(std::int64_t head, std::int64_t key) const {
    return rows_[count(head)].vector(call_.forward.key, document_.first_key + key, head / problem_.group());
  }
  std::vector<double> query_of(const HeadsView& view, std::int64_t head, std::int64_t query) const {
    return rows_[count(head)].vector(view, document_.first_query + query, head);
  }

  void take_query(std::int64_t query) {
    Rows content(count(heads_), std::vector<double>(count(document_.keys), 0.0));  // gradients of a, by head
    Rows gradient(count(heads_), std::vector<double>(dim_, 0.0));
    for (std::int64_t head = 0; head < heads_; ++head) take_head(query, head, content, gradient[count(head)]);
    for (std::int64_t head = 0; head < heads_; ++head) {
      const std::vector<double> q = query_of(call_.forward.query, head, query);
      for (std::int64_t key = 0; key < document_.keys; ++key) {
        const double da = content[count(head)][count(key)] * problem_.scale();
        if (da == 0) continue;
        add_times(gradient[count(head)], da, key_of(head, key));
        add_times(key_gradient_[key_row(head, key)], da, q);
      }
      store_row(gradient[count(head)].data(), call_.query_gradient,
                {document_.batch, document_.first_query + query, head});
    }
  }

  /// The visible keys of one query and head.
  struct Row {
    std::vector<double> gates, counts, weights;  ///< [keys]; 0 where a key is masked
  };

  Row row_of(std::int64_t query, std::int64_t head, const std::vector<double>& q, double& lse) {
    Row row;
    rows_[count(head)].scores(query, row.weights);
    row.gates.assign(row.weights.size(), 0.0);
    row.counts = row.gates;
    double total = 0;
    for (std::int64_t key = 0; key < document_.keys; ++key) {
      const double score = row.weights[count(key)];
      if (score == -HUGE_VAL) continue;
      total += row.gates[count(key)] = counted_gate(problem_, document_, {head, query, key}, score);
    }
    double* shared = problem_.gate_count(document_.batch, head, document_.first_query + query);
    double& left = shared == nullptr ? total : *shared;
    for (std::size_t key = 0; key < row.weights.size(); ++key) {
      if (row.weights[key] == -HUGE_VAL) continue;
      row.counts[key] = std::max(left, 0.0);  // a difference of sums may round below
      left -= row.gates[key];
      row.weights[key] += rows_[count(head)].counted_term(q, row.counts[key]);
    }
    lse = rows_[count(head)].forward_weights(query, row.weights);
    return row;
  }

  void take_head(std::int64_t query, std::int64_t head, Rows& content, std::vector<double>& query_gradient) {
    const std::vector<double> q = query_of(call_.forward.query, head, query),
                              g = query_of(call_.output_gradient, head, query);
    double lse = 0;
    const Row row = row_of(query, head, q, lse);
    std::vector<double> products(row.weights.size(), 0.0);
    for (std::int64_t key = 0; key < document_.keys; ++key) {
      if (row.weights[count(key)] == 0) continue;
      products[count(key)] =
          dot(g, rows_[count(head)].vector(call_.forward.value, document_.first_key + key, head / problem_.group()));
      add_times(value_gradient_[key_row(head, key)], row.weights[count(key)], g);
    }
    const double mean = rows_[count(head)].mean_of(query, g, row.weights, products);
    const std::span<const float> sinks = call_.forward.sink_logits;
    if (!sinks.empty() && lse > -HUGE_VAL) {
      learned_.add_sink(head, -std::exp(static_cast<double>(sinks[count(head)]) - lse) * mean);
    }
    double own = 0;
    double* shared = problem_.count_gradient(document_.batch, head, document_.first_query + query);
    double& before = shared == nullptr ? own : *shared;  // the sum of dP over the keys so far
    for (std::int64_t key = 0; key < document_.keys; ++key) {
      const double weight = row.weights[count(key)], gate = row.gates[count(key)];
      if (weight != 0) {
        const double ds = weight * (products[count(key)] - mean);
        content[count(head)][count(key)] += ds;
        before += take_row(ds, row.counts[count(key)], head, q, query_gradient);
      }
      take_gate(head, key, before * gate * (1 - gate), content);
    }
  }

  // The gradient of what a gate is the sigmoid of.
  void take_gate(std::int64_t head, std::int64_t key, double gradient, Rows& content) const {
    if (keys_.gate_mix.data.empty()) {
      content[count(head)][count(key)] += gradient;
      return;
    }
    for (std::int64_t other = 0; other < heads_; ++other) {
      content[count(other)][count(key)] += gradient * static_cast<double>(keys_.gate_mix.row(head)[count(other)]);
    }
  }

  // Gradients of the query and of the table from the row of one key; returns that of its place.
  double take_row(double ds, double counted, std::int64_t head, const std::vector<double>& q,
                  std::vector<double>& query_gradient) {
    const CountedPlace place = counted_place(keys_, counted);
    const double term = ds * problem_.relative_scale();
    const auto low = keys_.key_table.row(place.below), high = keys_.key_table.row(place.above);
    std::vector<double> below(dim_), above(dim_);
    double slope = 0;
    for (std::size_t j = 0; j < dim_; ++j) {
      const auto from = static_cast<double>(low[j]), to = static_cast<double>(high[j]);
      query_gradient[j] += term * (from * (1 - place.share) + to * place.share);
      below[j] = term * (1 - place.share) * q[j];
      above[j] = term * place.share * q[j];
      slope += q[j] * (to - from);
    }
    learned_.add_key_row_at(head, place.below, below.data());
    learned_.add_key_row_at(head, place.above, above.data());
    const bool at_the_last = counted >= static_cast<double>(keys_.key_table.dim(0) - 1);
    return at_the_last ? 0 : term * slope;
  }

  const Problem& problem_;
  const AttentionGradientCall& call_;
  const Document& document_;
  const RelativeKeys& keys_;
  LearnedSums& learned_;
  std::int64_t heads_;
  std::size_t dim_;
  Rows key_gradient_, value_gradient_;  // [key heads x keys][dim]
  std::vector<HeadInDouble> rows_;
};

}  // namespace

void backward_counted(const Problem& problem, const AttentionGradientCall& call, const Document& document,
                      LearnedSums& learned) {
  CountedBackward(problem, call, document, learned).run();
}

}  // namespace locus
