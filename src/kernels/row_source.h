// SPDX-License-Identifier: Apache-2.0
// Where the rotation kernel gets a token's cos and sin from: the encoding's table, or computed on the spot.
#pragma once

#include <optional>
#include <vector>

#include "encoding/row_table.h"
#include "kernels/exact_rows.h"
#include "locus/encoding.h"

namespace locus {

/// One per thread and call; the row it returns, [cos | sin], stays valid until the next one is asked for.
class RowSource {
 public:
  RowSource(const Encoding& encoding, Role role);
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;

  const float* row(std::span<const Position> ids) {
    if (tabled_ && ids.size() == 1) {
      if (const float* kept = table_.built_row(ids[0])) return kept;
    }
    return other_row(ids);
  }

  /// Looks up rows in the table until one is not there; how many there were. These stay valid with the encoding.
  std::size_t kept_rows(std::span<const Position> ids, std::span<const float*> rows) const {
    std::size_t n = 0;
    while (tabled_ && n < ids.size() && (rows[n] = table_.built_row(ids[n])) != nullptr) ++n;
    return n;
  }

 private:
  const float* other_row(std::span<const Position> ids);
  void uniform_rows(Position first, std::int64_t count, float* rows);
  const float* whole_row(Position position, std::vector<float>& scratch);

  const Encoding& encoding_;
  const RowTable& table_;
  const Rotation& rotation_;
  Role role_;
  bool tabled_;                     // rows depend on one whole coordinate per pair
  std::optional<ExactRows> exact_;  // made when a row is not in the table
  RowTable::Fill fill_;
  std::vector<float> scratch_;
  std::vector<float> other_;
};

}  // namespace locus
