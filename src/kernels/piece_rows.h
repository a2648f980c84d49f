// SPDX-License-Identifier: Apache-2.0
// What a bias of linear pieces needs of every distance and of every query, kept with its encoding.
#pragma once

#include <vector>

#include "encoding/row_table.h"
#include "kernels/bias_rows.h"
#include "locus/site.h"

namespace locus {

/// Keeps distances and queries below 32,768. Several threads may call at once.
class PieceRows {
 public:
  explicit PieceRows(const BiasPieces& pieces);

  /// BiasPieces::by_distance, to 2^-47 of itself.
  double by_distance(Position distance) const { return kept_distances_.value(0, -distance); }
  /// The first distance of every piece but the first, as a query has them: rising. In `room` unless they are kept.
  const float* first_distances(Position query, std::vector<float>& room) const;

 private:
  void compute(Position query, float* to) const;

  const BiasPieces& pieces_;
  ScoreBias distances_;  ///< by_distance as the bias of one head
  BiasRows kept_distances_;
  RowTable kept_queries_;  ///< [breaks]
};

}  // namespace locus
