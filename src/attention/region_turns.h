// SPDX-License-Identifier: Apache-2.0
// Remapped offsets: queries and keys are rotated at their own positions; for each region of the map they are rotated by
// the difference to their positions in that region.
#pragma once

#include <vector>

#include "attention/position_terms.h"

namespace locus {

/// One document. Without an offset map there is one region, and nothing turns. Only its ids matter, so that heads share
/// one object.
class RegionTurns {
 public:
  RegionTurns(RegionTurns&&) = default;
  /// `with_tables`: for the functions on float.
  RegionTurns(const Problem& problem, const Document& document, bool with_tables);

  bool present() const { return map_ != nullptr; }
  std::size_t regions() const { return present() ? map_->regions.size() : 1; }
  std::size_t region_of(std::int64_t query, std::int64_t key) const;
  /// Regions of a tile as bits. If there are several and ids do not advance, that of row i and column c is at
  /// regions[i * columns + c].
  std::uint32_t regions_of(const TilePlace& tile, std::vector<std::uint8_t>& regions) const;

  /// Where ids advance: the keys [begin, end) of the document that a query has in a region; end <= begin: none.
  struct Keys {
    std::int64_t begin = 0, end = 0;
  };
  Keys keys_of(std::size_t region, std::int64_t query) const;
  /// Whether a region leaves all queries (keys) of the document where they are.
  bool queries_stay(std::size_t region) const { return query_turns_[region].rows.empty(); }
  bool keys_stay(std::size_t region) const { return key_turns_[region].rows.empty(); }
  /// Keys [begin, end) of the document that can be in a region.
  Keys keys_met(std::size_t region) const;
  /// The first region that turns keys as this one does.
  std::size_t keys_like(std::size_t region) const { return key_turns_[region].like; }

  /// Turns the rows of tokens [first, first + count), `stride` floats apart, in place or, with `from`, out of place.
  struct Rows {
    std::int64_t first = 0, count = 0;
    float* data = nullptr;
    std::int64_t stride = 0;
    const float* from = nullptr;
    std::int64_t from_stride = 0;
  };
  void turn_queries(std::size_t region, const Rows& rows, Direction direction = Direction::forward) const;
  void turn_keys(std::size_t region, const Rows& rows, Direction direction = Direction::forward) const;
  void turn_query(std::size_t region, std::int64_t query, std::vector<double>& row,
                  Direction direction = Direction::forward) const;
  void turn_key(std::size_t region, std::int64_t key, std::vector<double>& row,
                Direction direction = Direction::forward) const;

 private:
  bool neighbours() const;
  /// How a region turns the queries or the keys: cos and sin of every pair, [tokens][2 pairs]; empty: not at all.
  struct TokenTurns {
    std::vector<Position> moved;  ///< by how much, times the denominator
    std::size_t like = 0;         ///< the first region that moves all tokens as this one
    std::vector<float> table = {};
    std::vector<const float*> rows = {};  ///< those of `like`
  };
  void leave_near_pairs();
  void make_tables(std::vector<TokenTurns>& turns) const;
  void turn(const TokenTurns& turns, const Rows& rows, Direction direction) const;
  void turn(Position moved, std::vector<double>& row) const;

  const Document& document_;
  const Rotation* rotation_ = nullptr;
  const OffsetMap* map_ = nullptr;
  std::vector<std::vector<Position>> first_key_;     ///< [regions - 1][queries]
  std::vector<TokenTurns> query_turns_, key_turns_;  ///< per region
};

}  // namespace locus
