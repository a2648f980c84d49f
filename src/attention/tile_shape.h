// SPDX-License-Identifier: Apache-2.0
// Which columns of a tile each of its rows sees.
#pragma once

#include <vector>

#include "attention/position_terms.h"

namespace locus {

class TileShape {
 public:
  TileShape(const Problem& problem, const Stretch& stretch, std::int64_t first_query, std::int64_t rows);

  /// Looks at keys [first_key, first_key + columns); false where no row sees any.
  bool move_to(std::int64_t first_key, std::int64_t columns);
  TileRows rows() const;
  /// The keys that each row sees, wherever the tile is.
  const std::vector<VisibleRange>& ranges() const { return ranges_; }
  /// Sets the scores of pairs that are masked one by one to -infinity.
  void hide_unseen(std::int64_t head, float* scores, std::int64_t stride) const;

 private:
  const Problem& problem_;
  const Stretch& stretch_;
  std::int64_t first_query_, rows_, first_key_ = 0, columns_ = 0;
  std::vector<VisibleRange> ranges_;
  std::vector<std::int32_t> begin_, end_;
  bool ragged_ = false;      ///< rows differ
  bool one_by_one_ = false;  ///< pairs must be asked for
};

}  // namespace locus
