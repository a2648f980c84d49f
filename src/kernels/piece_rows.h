// SPDX-License-Identifier: Apache-2.0
// What a bias of linear pieces needs of every distance and of every query, kept with its encoding.
#pragma once

#include <vector>

#include "encoding/row_table.h"
#include "kernels/bias_rows.h"
#include "locus/site.h"

namespace locus {

/// A query's factor (BiasPieces::by_query), and the first distance of every piece but the first: rising, at least 1.
struct PieceQuery {
  double by_query = 1;
  const float* first = nullptr;
};

/// Keeps distances and queries below 32,768. Several threads may call at once.
class PieceRows {
 public:
  explicit PieceRows(const BiasPieces& pieces);

  /// BiasPieces::by_distance, to 2^-47 of itself.
  double by_distance(Position distance) const { return kept_distances_.value(0, -distance); }
  /// In `room` unless it is kept.
  PieceQuery query(Position query, std::vector<float>& room) const;

 private:
  void compute(Position query, float* to) const;

  const BiasPieces& pieces_;
  ScoreBias distances_;  ///< by_distance as the bias of one head
  BiasRows kept_distances_;
  RowTable kept_queries_;  ///< [by_query as two floats' bits, breaks]
};

}  // namespace locus
