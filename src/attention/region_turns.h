// SPDX-License-Identifier: Apache-2.0
// Remapped offsets: queries and keys are rotated at their own positions; for each region of the map they are rotated by
// the difference to their positions in that region.
#pragma once

#include <vector>

#include "attention/problem.h"

namespace locus {

/// One document. Without an offset map there is one region, and nothing turns.
class RegionTurns {
 public:
  /// `with_rows`: with tables for the functions on float.
  RegionTurns(const Problem& problem, const Document& document, bool with_rows);

  bool present() const { return map_ != nullptr; }
  std::size_t regions() const { return present() ? map_->regions.size() : 1; }
  std::size_t region_of(std::int64_t query, std::int64_t key) const;
  /// Regions of a tile as bits, with that of row i and column c at regions[i * columns + c] if there are several.
  std::uint32_t regions_of(std::int64_t first_query, std::int64_t rows, std::int64_t first_key, std::int64_t columns,
                           std::vector<std::uint8_t>& regions) const;

  void turn_query(std::size_t region, std::int64_t query, float* row, Direction direction = Direction::forward) const;
  void turn_key(std::size_t region, std::int64_t key, float* row, Direction direction = Direction::forward) const;
  void turn_query(std::size_t region, std::int64_t query, std::vector<double>& row,
                  Direction direction = Direction::forward) const;
  void turn_key(std::size_t region, std::int64_t key, std::vector<double>& row,
                Direction direction = Direction::forward) const;

 private:
  bool neighbours() const;
  void fill(std::vector<float>& rows, std::int64_t tokens, bool queries) const;
  double query_change(std::size_t region, std::int64_t query) const;
  double key_change(std::size_t region, std::int64_t key) const;
  void turn(double change, std::vector<double>& row) const;
  void turn(const float* cos_sin, float* row, Direction direction) const;

  const Document& document_;
  const Rotation* rotation_ = nullptr;
  const OffsetMap* map_ = nullptr;
  std::vector<std::vector<Position>> first_key_;  ///< [regions - 1][queries]
  /// cos and sin of every pair, [regions][tokens][2 pairs]; those for double are computed.
  std::vector<float> query_rows_, key_rows_;
};

}  // namespace locus
