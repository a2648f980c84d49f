// SPDX-License-Identifier: Apache-2.0
// One head of a document in double: scores and probabilities of a query, from the definition.
#pragma once

#include <vector>

#include "attention/position_terms.h"
#include "attention/problem.h"
#include "attention/region_turns.h"

namespace locus {

class HeadInDouble {
 public:
  struct Score {
    double value;
    double slope;  ///< derivative of the soft cap
  };

  HeadInDouble(const Problem& problem, const Document& document, std::int64_t head);

  /// Fills `weights` [keys of the document] with probabilities and returns the log-sum-exp. `slopes`, if given, gets
  /// the slope of every visible score.
  double probabilities(std::int64_t query, std::vector<double>& weights, std::vector<double>* slopes = nullptr);

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
  void add_counted(const std::vector<double>& q, std::int64_t query, std::vector<double>& scores);
  /// Returns a key of this head, from the call or from its supply.
  std::vector<double> key_vector(std::int64_t key);
  Score score_of(const std::vector<double>& q, std::int64_t query, std::int64_t key);
  double relative_term(const std::vector<double>& q, const std::vector<double>& k, std::int64_t query,
                       std::int64_t key);

  const Problem& problem_;
  const Document& document_;
  std::int64_t head_;
  const RelativeKeys* keys_;
  TokenNumbers numbers_;
  RegionTurns turns_;
  std::vector<std::byte> room_;
  std::vector<RelativeRows> key_rows_, meeting_rows_, value_rows_;  // one or none
};

}  // namespace locus
