// SPDX-License-Identifier: Apache-2.0
// The backward pass of rows chosen by counting, query by query in double. With a_t = scale q.k_t, gates g_t = sigmoid of
// a_t (or of a mix of all heads' a_t), P_j = sum of g_t over the visible keys t >= j, and E(P) between two rows of the
// table, a score is a_j + q . E(P_j). Given its gradient ds_j:
//   dP_j = ds_j q . E'(P_j), 0 where P_j is at the last row;  dx_t = g_t (1 - g_t) x sum of dP_j over j <= t;
//   da_t = ds_t + dx_t, of a mix: + sum over heads h of mix[h, own] dx_t of h;  dmix[h, own] += dx_t of h x a_t
// Keys and values are in memory by coordinate too, so that all loops over keys run along memory.
//
// Keys are taken from the first to the last: P_j is what all visible keys count less the gates before j, and the sum of dP
// so far is at hand. So a shard of the keys needs two numbers per query from the shards before it.
#include <algorithm>
#include <cmath>

#include "attention/backward.h"
#include "attention/position_terms.h"
#include "attention/stored_row.h"
#include "locus/error.h"

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

/// Query heads [first_head, first_head + heads): all of those that share gates, and whole groups of a key head.
class CountedScores {
 public:
  CountedScores(const Problem& problem, const Document& document, std::int64_t first_head, std::int64_t heads)
      : problem_(problem),
        document_(document),
        table_(*problem.relative()),
        first_head_(first_head),
        dim_(as_index(problem.head_dim())),
        keys_(as_index(document.keys)),
        heads_(as_index(heads)) {
    for (std::int64_t h = first_head; h < first_head + heads; h += problem.group()) {
      Doubles keys = all_keys(problem.call().key, h / problem.group());
      Doubles turned = by_coordinate(keys, dim_);
      key_heads_.push_back({std::move(keys), std::move(turned), {}, {}, {}});
    }
  }

  /// Adds the gates of all keys to what queries count.
  void count_gates() {
    for (std::int64_t query = 0; query < document_.queries; ++query) {
      take_logits(query);
      for (std::size_t h = 0; h < heads_.size(); ++h) {
        double& count = *problem_.gate_count(document_.batch, number_of(h), document_.first_query + query);
        count += take_gates(query, h);
      }
    }
  }

 protected:
  Doubles all_keys(const HeadsView& view, std::int64_t key_head) const {
    return counted_rows_of(view, document_.batch, key_head, document_.first_key, document_.keys);
  }
  CountedKeys& keys_of(std::size_t head) { return key_heads_[head / as_index(problem_.group())]; }
  std::int64_t number_of(std::size_t head) const { return first_head_ + static_cast<std::int64_t>(head); }
  /// What the products of `other` contribute to the gates of `head`.
  double mix(std::size_t head, std::size_t other) const {
    if (table_.gate_mix.data.empty()) return head == other ? 1 : 0;
    return static_cast<double>(table_.gate_mix.row(number_of(head))[other]);
  }

  // The products of a query with all keys, and what the gates of each head are sigmoids of.
  void take_logits(std::int64_t query) {
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      CountedQuery& head = heads_[h];
      head.query =
          counted_rows_of(problem_.call().query, document_.batch, number_of(h), document_.first_query + query, 1);
      head.content.assign(keys_, 0.0);
      const double* turned = keys_of(h).keys_turned.data();
      for (std::size_t j = 0; j < dim_; ++j) {
        add_multiple(head.query[j] * problem_.scale(), turned + j * keys_, keys_, head.content.data());
      }
    }
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      heads_[h].logits.assign(keys_, 0.0);
      for (std::size_t other = 0; other < heads_.size(); ++other) {
        if (const double share = mix(h, other); share != 0) {
          add_multiple(share, heads_[other].content.data(), keys_, heads_[h].logits.data());
        }
      }
    }
  }

  // The gates of the keys that a query sees, 0 for the others; returns their sum.
  double take_gates(std::int64_t query, std::size_t h) {
    CountedQuery& head = heads_[h];
    head.gates.assign(keys_, 0.0);
    double count = 0;
    for (std::size_t t = keys_; t-- > 0;) {
      if (!problem_.sees(document_, number_of(h), query, static_cast<std::int64_t>(t))) continue;
      count += head.gates[t] = 1 / (1 + std::exp(-head.logits[t]));
    }
    return count;
  }

  const Problem& problem_;
  const Document& document_;
  const RelativeKeys& table_;
  std::int64_t first_head_;
  std::size_t dim_, keys_;
  std::vector<CountedKeys> key_heads_;
  std::vector<CountedQuery> heads_;
};

class CountedBackward : CountedScores {
 public:
  CountedBackward(const Problem& problem, const AttentionGradientCall& call, const Document& document,
                  std::int64_t first_head, std::int64_t heads, LearnedSums& learned)
      : CountedScores(problem, document, first_head, heads),
        call_(call),
        learned_(learned),
        rows_(as_index(table_.key_table.dim(0))) {
    const Doubles rows(table_.key_table.data.begin(), table_.key_table.data.end());
    table_turned_ = by_coordinate(rows, dim_);
    for (std::size_t i = 0; i < key_heads_.size(); ++i) {
      const std::int64_t key_head = first_head / problem.group() + static_cast<std::int64_t>(i);
      key_heads_[i].values_turned = by_coordinate(all_keys(call.forward.value, key_head), dim_);
      key_heads_[i].key_gradient.resize(keys_ * dim_);
      key_heads_[i].value_gradient.resize(keys_ * dim_);
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
  void take_query(std::int64_t query) {
    take_logits(query);
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      CountedQuery& head = heads_[h];
      head.output_gradient =
          counted_rows_of(call_.output_gradient, document_.batch, number_of(h), document_.first_query + query, 1);
      head.content_gradient.assign(keys_, 0.0);
      head.query_gradient.assign(dim_, 0.0);
      take_head(query, h);
    }
    for (std::size_t h = 0; h < heads_.size(); ++h) {
      for (std::size_t other = 0; other < heads_.size(); ++other) pass_gate_gradient(h, other);
    }
    for (std::size_t h = 0; h < heads_.size(); ++h) finish(query, h);
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
    double own = take_gates(query, h);
    double* shared = problem_.gate_count(document_.batch, number_of(h), document_.first_query + query);
    double& left = shared == nullptr ? own : *shared;
    for (std::size_t t = 0; t < keys_; ++t) {
      if (!problem_.sees(document_, number_of(h), query, static_cast<std::int64_t>(t))) continue;
      const double count = std::max(left, 0.0);  // a difference of sums may round below
      left -= head.gates[t];
      const CountedPlace place = counted_place(table_, count);
      places_[t] = {place, count >= static_cast<double>(rows_ - 1)};
      weights_[t] = head.content[t] + products_[as_index(place.below)] * (1 - place.share) +
                    products_[as_index(place.above)] * place.share;
    }
    take_softmax(query, h);
    take_places(query, h);
  }

  // Of the scores in weights_ and the sink, or, for a shard, what the forward pass gave over all keys.
  double log_sum_exp(std::int64_t query, std::size_t h, double sink) const {
    if (problem_.is_shard()) {
      return static_cast<double>(*problem_.log_sum_exp(document_.batch, number_of(h), document_.first_query + query));
    }
    double top = sink, total = 0;
    for (const double score : weights_) top = score <= top ? top : score;
    if (top == -HUGE_VAL) return top;
    for (const double score : weights_) total += std::exp(score - top);
    return top + std::log(total + std::exp(sink - top));
  }

  // The mean of g . v that the forward pass weighted: for a shard g . output.
  double mean_product(std::int64_t query, std::size_t h) const {
    const CountedQuery& head = heads_[h];
    double mean = 0;
    if (problem_.is_shard()) {
      const Doubles output =
          counted_rows_of(call_.forward.output, document_.batch, number_of(h), document_.first_query + query, 1);
      for (std::size_t j = 0; j < dim_; ++j) mean += head.output_gradient[j] * output[j];
      return mean;
    }
    for (std::size_t t = 0; t < keys_; ++t) mean += weights_[t] == 0 ? 0 : weights_[t] * head.score_gradient[t];
    return mean;
  }

  // Turns weights_ from scores to probabilities, and computes the gradients of values, sink and scores.
  void take_softmax(std::int64_t query, std::size_t h) {
    CountedQuery& head = heads_[h];
    const std::span<const float> sinks = call_.forward.sink_logits;
    const double sink = sinks.empty() ? -HUGE_VAL : static_cast<double>(sinks[as_index(number_of(h))]);
    const double lse = log_sum_exp(query, h, sink);
    head.score_gradient.assign(keys_, 0.0);
    if (lse == -HUGE_VAL) {
      std::fill(weights_.begin(), weights_.end(), 0.0);
      return;
    }
    const double* turned = keys_of(h).values_turned.data();
    for (std::size_t j = 0; j < dim_; ++j) {
      add_multiple(head.output_gradient[j], turned + j * keys_, keys_, head.score_gradient.data());
    }
    for (std::size_t t = 0; t < keys_; ++t) {
      weights_[t] = std::exp(weights_[t] - lse);
      if (weights_[t] == 0) continue;
      add_multiple(weights_[t], head.output_gradient.data(), dim_, keys_of(h).value_gradient.data() + t * dim_);
    }
    const double mean = mean_product(query, h);
    for (std::size_t t = 0; t < keys_; ++t) {
      head.score_gradient[t] = weights_[t] == 0 ? 0 : weights_[t] * (head.score_gradient[t] - mean);
    }
    if (!sinks.empty()) learned_.add_sink(number_of(h), -std::exp(sink - lse) * mean);
  }

  // From the gradients of the scores to those of the table, the query, and the gates' logits.
  void take_places(std::int64_t query, std::size_t h) {
    CountedQuery& head = heads_[h];
    shares_.assign(rows_, 0.0);
    head.gate_gradient.assign(keys_, 0.0);
    double own = 0;
    double* shared = problem_.count_gradient(document_.batch, number_of(h), document_.first_query + query);
    double& before = shared == nullptr ? own : *shared;  // the sum of dP over the keys so far
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

  const AttentionGradientCall& call_;
  LearnedSums& learned_;
  std::size_t rows_;
  Doubles table_turned_;       ///< [dim][rows]
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

void count_gates_shard(const AttentionCall& call, const ShardOfKeys& shard) {
  const Problem problem(call, nullptr, shard);
  require(problem.relative() != nullptr && problem.relative()->counted, "count_gates_shard: ",
          call.encoding == nullptr ? std::string_view("no encoding") : call.encoding->scheme().name,
          " counts no gates; cope does");
  require(shard.gate_counts != nullptr, "count_gates_shard: gate_counts must be given");
  const bool mixed = !problem.relative()->gate_mix.data.empty();
  const std::int64_t together = mixed ? call.query.heads : problem.group(), parts = call.query.heads / together;
  for_ranges(call.executor, std::ssize(problem.documents()) * parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Document& document = problem.documents()[as_index(i / parts)];
      CountedScores(problem, document, i % parts * together, together).count_gates();
    }
  });
}

}  // namespace locus
