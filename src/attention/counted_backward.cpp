// SPDX-License-Identifier: Apache-2.0
// The backward pass of rows chosen by counting, query by query in double. With a_t = scale q.k_t, gates g_t = sigmoid of
// a_t (or of a mix of all heads' a_t), P_j = sum of g_t over the visible keys t >= j, and E(P) between two rows of the
// table, a score is a_j + q . E(P_j). Given its gradient ds_j:
//   dP_j = ds_j q . E'(P_j), 0 where P_j is at the last row;  dx_t = g_t (1 - g_t) x sum of dP_j over j <= t;
//   da_t = ds_t + dx_t, of a mix: + sum over heads h of mix[h, own] dx_t of h;  dmix[h, own] += dx_t of h x a_t
// Keys and values are in memory by coordinate too, so that all loops over keys run along memory.
#include <algorithm>
#include <cmath>

#include "attention/backward.h"
#include "attention/position_terms.h"
#include "attention/stored_row.h"

namespace locus {
namespace {

using Doubles = std::vector<double>;

std::size_t as_index(std::int64_t n) { return static_cast<std::size_t>(n); }

void add_multiple(double factor, const double* from, std::size_t count, double* to) {
  for (std::size_t i = 0; i < count; ++i) to[i] += factor * from[i];
}

/// Rows [rows][dim] of one head of a tensor, in double.
Doubles counted_rows_of(const HeadsView& view, std::int64_t batch, std::int64_t head, std::int64_t first,
                        std::int64_t rows) {
  Doubles values;
  for (std::int64_t t = first; t < first + rows; ++t) {
    const std::byte* row = Problem::row(view, batch, t, head);
    for (std::int64_t j = 0; j < view.head_dim; ++j) values.push_back(Problem::element(view, row, j));
  }
  return values;
}

Doubles by_coordinate(const Doubles& rows, std::size_t dim) {
  Doubles turned(rows.size());
  const std::size_t count = rows.size() / dim;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < dim; ++j) turned[j * count + i] = rows[i * dim + j];
  }
  return turned;
}

/// Keys and values of a key head, by row and by coordinate, and their gradients by row.
struct CountedKeys {
  Doubles keys, keys_turned, values_turned, key_gradient, value_gradient;
};

/// One query head: what is needed of one query at a time, by key.
struct CountedQuery {
  Doubles query, output_gradient;                  ///< [dim]
  Doubles content, logits, gates, score_gradient;  ///< a, what the gate is the sigmoid of, g, ds
  Doubles gate_gradient, content_gradient;         ///< of the logits and of a
  Doubles query_gradient;                          ///< [dim]
};

class CountedBackward {
 public:
  /// Query heads [first_head, first_head + heads): all of those that share gates, and whole groups of a key head.
  CountedBackward(const Problem& problem, const AttentionGradientCall& call, const Document& document,
                  std::int64_t first_head, std::int64_t heads, LearnedSums& learned)
      : problem_(problem),
        call_(call),
        document_(document),
        table_(*problem.relative()),
        learned_(learned),
        first_head_(first_head),
        dim_(as_index(problem.head_dim())),
        keys_(as_index(document.keys)),
        rows_(as_index(table_.key_table.dim(0))),
        heads_(as_index(heads)) {
    const Doubles rows(table_.key_table.data.begin(), table_.key_table.data.end());
    table_turned_ = by_coordinate(rows, dim_);
    const AttentionCall& forward = call.forward;
    for (std::int64_t h = first_head; h < first_head + heads; h += problem.group()) {
      const auto all = [&](const HeadsView& view) {
        return counted_rows_of(view, document.batch, h / problem.group(), document.first_key, document.keys);
      };
      Doubles keys = all(forward.key);
      Doubles turned = by_coordinate(keys, dim_), values = by_coordinate(all(forward.value), dim_);
      key_heads_.push_back(
          {std::move(keys), std::move(turned), std::move(values), Doubles(keys_ * dim_), Doubles(keys_ * dim_)});
    }
  }

  void run() {
    for (std::int64_t query = 0; query < document_.queries; ++query) take_query(query);
    for (std::size_t i = 0; i < key_heads_.size(); ++i) {
      const std::int64_t head = first_head_ / problem_.group() + static_cast<std::int64_t>(i);
      for (std::int64_t key = 0; key < document_.keys; ++key) {
        const RowPlace place{document_.batch, document_.first_key + key, head};
        store_row(key_heads_[i].key_gradient.data() + as_index(key) * dim_, call_.key_gradient, place);
        store_row(key_heads_[i].value_gradient.data() + as_index(key) * dim_, call_.value_gradient, place);
      }
    }
  }

 private:
  CountedKeys& keys_of(std::size_t head) { return key_heads_[head / as_index(problem_.group())]; }
  std::int64_t number_of(std::size_t head) const { return first_head_ + static_cast<std::int64_t>(head); }
  /// What the products of `other` contribute to the gates of `head`.
  double mix(std::size_t head, std::size_t other) const {
    if (table_.gate_mix.data.empty()) return head == other ? 1 : 0;
    return static_cast<double>(table_.gate_mix.row(number_of(head))[other]);
  }

  void take_query(std::int64_t query) {
    for (std::size_t h = 0; h < heads_.size(); ++h) load(query, h);
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      heads_[h].logits.assign(keys_, 0.0);
      for (std::size_t other = 0; other < heads_.size(); ++other) {
        if (const double share = mix(h, other); share != 0) {
          add_multiple(share, heads_[other].content.data(), keys_, heads_[h].logits.data());
        }
      }
    }
    for (std::size_t h = 0; h < heads_.size(); ++h) take_head(query, h);
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      for (std::size_t other = 0; other < heads_.size(); ++other) pass_gate_gradient(h, other);
    }
    for (std::size_t h = 0; h < heads_.size(); ++h) finish(query, h);
  }

  void load(std::int64_t query, std::size_t h) {
    CountedQuery& head = heads_[h];
    const std::int64_t number = number_of(h), token = document_.first_query + query;
    head.query = counted_rows_of(call_.forward.query, document_.batch, number, token, 1);
    head.output_gradient = counted_rows_of(call_.output_gradient, document_.batch, number, token, 1);
    head.content.assign(keys_, 0.0);
    head.content_gradient.assign(keys_, 0.0);
    head.query_gradient.assign(dim_, 0.0);
    const double* turned = keys_of(h).keys_turned.data();
    for (std::size_t j = 0; j < dim_; ++j) {
      add_multiple(head.query[j] * problem_.scale(), turned + j * keys_, keys_, head.content.data());
    }
  }

  // The scores of one head, their gradients, and those of values, table, places and gates.
  void take_head(std::int64_t query, std::size_t h) {
    CountedQuery& head = heads_[h];
    products_.assign(rows_, 0.0);
    for (std::size_t j = 0; j < dim_; ++j) {
      add_multiple(head.query[j] * problem_.relative_scale(), table_turned_.data() + j * rows_, rows_,
                   products_.data());
    }
    weights_.assign(keys_, -HUGE_VAL);
    places_.resize(keys_);
    head.gates.assign(keys_, 0.0);
    double count = 0;
    for (std::size_t t = keys_; t-- > 0;) {
      if (!problem_.sees(document_, number_of(h), query, static_cast<std::int64_t>(t))) continue;
      head.gates[t] = 1 / (1 + std::exp(-head.logits[t]));
      count += head.gates[t];
      const CountedPlace place = counted_place(table_, count);
      places_[t] = {place, count >= static_cast<double>(rows_ - 1)};
      weights_[t] = head.content[t] + products_[as_index(place.below)] * (1 - place.share) +
                    products_[as_index(place.above)] * place.share;
    }
    take_softmax(h);
    take_places(h);
  }

  // Turns weights_ from scores to probabilities, and computes the gradients of values, sink and scores.
  void take_softmax(std::size_t h) {
    CountedQuery& head = heads_[h];
    const std::span<const float> sinks = call_.forward.sink_logits;
    const double sink = sinks.empty() ? -HUGE_VAL : static_cast<double>(sinks[as_index(number_of(h))]);
    double top = sink, total = 0, mean = 0;
    for (const double score : weights_) top = score <= top ? top : score;
    head.score_gradient.assign(keys_, 0.0);
    if (top == -HUGE_VAL) {
      std::fill(weights_.begin(), weights_.end(), 0.0);
      return;
    }
    for (double& weight : weights_) total += weight = std::exp(weight - top);
    total += std::exp(sink - top);
    const double* turned = keys_of(h).values_turned.data();
    for (std::size_t j = 0; j < dim_; ++j) {
      add_multiple(head.output_gradient[j], turned + j * keys_, keys_, head.score_gradient.data());
    }
    for (std::size_t t = 0; t < keys_; ++t) {
      weights_[t] /= total;
      if (weights_[t] == 0) continue;
      mean += weights_[t] * head.score_gradient[t];
      add_multiple(weights_[t], head.output_gradient.data(), dim_, keys_of(h).value_gradient.data() + t * dim_);
    }
    for (std::size_t t = 0; t < keys_; ++t) {
      head.score_gradient[t] = weights_[t] == 0 ? 0 : weights_[t] * (head.score_gradient[t] - mean);
    }
    if (!sinks.empty()) learned_.add_sink(number_of(h), -std::exp(sink - top) / total * mean);
  }

  // From the gradients of the scores to those of the table, the query, and the gates' logits.
  void take_places(std::size_t h) {
    CountedQuery& head = heads_[h];
    shares_.assign(rows_, 0.0);
    head.gate_gradient.assign(keys_, 0.0);
    double before = 0;  // the sum of dP over the keys so far
    for (std::size_t t = 0; t < keys_; ++t) {
      if (head.gates[t] == 0) continue;
      const auto& [place, last] = places_[t];
      const double ds = head.score_gradient[t];
      shares_[as_index(place.below)] += ds * (1 - place.share);
      shares_[as_index(place.above)] += ds * place.share;
      if (!last) before += ds * (products_[as_index(place.above)] - products_[as_index(place.below)]);
      head.gate_gradient[t] = before * head.gates[t] * (1 - head.gates[t]);
    }
    Doubles row(dim_);
    for (std::size_t r = 0; r < rows_; ++r) {
      const double share = shares_[r] * problem_.relative_scale();
      if (share == 0) continue;
      for (std::size_t j = 0; j < dim_; ++j) {
        head.query_gradient[j] += share * table_turned_[j * rows_ + r];
        row[j] = share * head.query[j];
      }
      learned_.add_key_row_at(number_of(h), static_cast<std::int64_t>(r), row.data());
    }
  }

  void pass_gate_gradient(std::size_t h, std::size_t other) {
    const double share = mix(h, other);
    if (share != 0) {
      add_multiple(share, heads_[h].gate_gradient.data(), keys_, heads_[other].content_gradient.data());
    }
    if (table_.gate_mix.data.empty()) return;
    double sum = 0;
    for (std::size_t t = 0; t < keys_; ++t) sum += heads_[h].gate_gradient[t] * heads_[other].content[t];
    learned_.add_gate_mix(number_of(h), number_of(other), sum);
  }

  void finish(std::int64_t query, std::size_t h) {
    CountedQuery& head = heads_[h];
    CountedKeys& keys = keys_of(h);
    for (std::size_t t = 0; t < keys_; ++t) {
      const double da = (head.content_gradient[t] + head.score_gradient[t]) * problem_.scale();
      if (da == 0) continue;
      add_multiple(da, keys.keys.data() + t * dim_, dim_, head.query_gradient.data());
      add_multiple(da, head.query.data(), dim_, keys.key_gradient.data() + t * dim_);
    }
    store_row(head.query_gradient.data(), call_.query_gradient,
              {document_.batch, document_.first_query + query, number_of(h)});
  }

  struct Place {
    CountedPlace rows;
    bool last;  ///< at the last row, where it no longer moves
  };

  const Problem& problem_;
  const AttentionGradientCall& call_;
  const Document& document_;
  const RelativeKeys& table_;
  LearnedSums& learned_;
  std::int64_t first_head_;
  std::size_t dim_, keys_, rows_;
  Doubles table_turned_;  ///< [dim][rows]
  std::vector<CountedKeys> key_heads_;
  std::vector<CountedQuery> heads_;
  Doubles products_, shares_;  ///< of one query and head, by row of the table
  Doubles weights_;            ///< by key
  std::vector<Place> places_;
};

}  // namespace

void backward_counted(const Problem& problem, const AttentionGradientCall& call, const Document& document,
                      std::int64_t key_head, LearnedSums& learned) {
  if (problem.relative()->gate_mix.data.empty()) {
    CountedBackward(problem, call, document, key_head * problem.group(), problem.group(), learned).run();
  } else if (key_head == 0) {
    CountedBackward(problem, call, document, 0, call.forward.query.heads, learned).run();
  }
}

}  // namespace locus
