// SPDX-License-Identifier: Apache-2.0
// One head of a document in double: scores and probabilities of a query, from the definition.
#pragma once

#include <vector>

#include "attention/position_terms.h"
#include "attention/problem.h"
#include "attention/region_turns.h"

namespace locus {

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

class HeadInDouble {
 public:
  struct Score {
    double value;
    double slope;  ///< derivative of the soft cap
  };

  HeadInDouble(const Problem& problem, const Document& document, std::int64_t head);

  /// Fills `weights` [keys of the document] with probabilities and returns the log-sum-exp.
  double probabilities(std::int64_t query, std::vector<double>& weights);

  /// Fills `scores` [keys of the document], -infinity where a key is masked; without rows chosen by counting. `slopes`, if
  /// given, gets the slope of every visible score.
  void scores(std::int64_t query, std::vector<double>& scores, std::vector<double>* slopes = nullptr);
  /// What a count adds to a score, where rows are chosen by counting.
  double counted_term(const std::vector<double>& q, double count) const;
  /// Turns scores into the weights that the forward pass gave them and returns its log-sum-exp: for a shard of the keys
  /// that of the call, otherwise that of these scores, which is exact.
  double forward_weights(std::int64_t query, std::vector<double>& scores) const;
  /// The mean of the products dp = g . value that the forward pass weighted: for a shard g . output, otherwise exact.
  double mean_of(std::int64_t query, const std::vector<double>& g, const std::vector<double>& weights,
                 const std::vector<double>& products) const;

  /// Returns a row of a tensor; for tensors with key heads, of the key head that this head uses.
  std::vector<double> vector(const HeadsView& view, std::int64_t token, std::int64_t head) const;
  std::int64_t key_head() const { return head_ / problem_.group(); }

  /// What the query is multiplied by: the key, turned where offsets are remapped. And what the key is multiplied by.
  std::vector<double> as_query_sees(std::int64_t query, std::int64_t key, std::vector<double> k) const;
  std::vector<double> as_key_sees(std::int64_t query, std::int64_t key, std::vector<double> q) const;

  // The relative key and value of a pair; null: none.
  const double* relative_key(std::int64_t query, std::int64_t key);
  const double* meeting_row(std::int64_t query, std::int64_t key);  ///< what the key is multiplied by
  const double* relative_value(std::int64_t query, std::int64_t key);

 private:
  void add_counted(std::int64_t query, std::vector<double>& scores);
  double normalise(std::vector<double>& scores) const;
  Score score_of(const std::vector<double>& q, std::int64_t query, std::int64_t key);
  double relative_term(const std::vector<double>& q, const std::vector<double>& k, std::int64_t query,
                       std::int64_t key);

  const Problem& problem_;
  const Document& document_;
  std::int64_t head_;
  const RelativeKeys* keys_;
  TokenNumbers numbers_;
  RegionTurns turns_;
  std::vector<RelativeRows> key_rows_, meeting_rows_, value_rows_;  // one or none
};

}  // namespace locus
