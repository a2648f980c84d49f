// SPDX-License-Identifier: Apache-2.0
// The columns of a tile that each of its rows sees.
#pragma once

#include <vector>

#include "attention/position_terms.h"

namespace locus {

class TileShape {
 public:
  TileShape(const Problem& problem, const Document& document, std::int64_t first_query, std::int64_t rows);

  /// Moves to keys [first_key, first_key + columns); returns whether any row sees one of them.
  bool move_to(std::int64_t first_key, std::int64_t columns);
  TileRows rows() const;
  /// Returns how many of the blocks [first, end) of `keys` keys each have a key that any row sees. Independent of the
  /// tile.
  std::int64_t blocks_seen(std::int64_t first, std::int64_t end, std::int64_t keys) const;
  /// The keys that each row sees, independent of the tile.
  const std::vector<VisibleRange>& ranges() const { return ranges_; }
  /// Sets the scores of individually masked pairs to -infinity.
  void hide_unseen(std::int64_t head, float* scores, std::int64_t stride) const;

 private:
  const Problem& problem_;
  const Document& document_;
  std::int64_t first_query_, rows_, first_key_ = 0, columns_ = 0;
  std::vector<VisibleRange> ranges_;
  std::vector<std::int32_t> begin_, end_;
  bool ragged_ = false;      ///< rows differ
  bool one_by_one_ = false;  ///< visibility is checked per pair
};

}  // namespace locus
