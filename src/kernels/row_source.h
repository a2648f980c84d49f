// SPDX-License-Identifier: Apache-2.0
// Provides a token's cos and sin to the rotation kernel, from the encoding's table or computed.
#pragma once

#include <optional>
#include <vector>

#include "encoding/row_table.h"
#include "kernels/exact_rows.h"
#include "locus/encoding.h"

namespace locus {

/// One object per thread and call. A returned row, [cos | sin], is valid until the next call; if heads mix frequencies
/// it is [key heads][cos | sin].
class RowSource {
 public:
  RowSource(const Encoding& encoding, Role role);
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;

  const float* row(std::span<const Position> ids) {
    if (tabled_ && ids.size() == 1 && ids[0] < first_scaled_) {
      if (const float* kept = table_.built_row(ids[0])) return kept;
    }
    return other_row(ids);
  }

  /// Looks up rows in the table until one is missing and returns their number. These stay valid as long as the
  /// encoding.
  std::size_t kept_rows(std::span<const Position> ids, std::span<const float*> rows) const {
    std::size_t n = 0;
    while (tabled_ && n < ids.size() && ids[n] < first_scaled_ && (rows[n] = table_.built_row(ids[n])) != nullptr) ++n;
    return n;
  }

 private:
  const float* other_row(std::span<const Position> ids);
  std::size_t row_floats() const {
    return static_cast<std::size_t>((rotation_.mix ? rotation_.mix->heads : 1) * rotation_.rotary_dim);
  }
  void mix_heads(Role role, std::span<const Position> ids, float* rows);
  const float* scaled_row(std::span<const Position> ids);
  void uniform_rows(Position first, std::int64_t count, float* rows);
  const float* whole_row(Position position, std::vector<float>& scratch);

  const Encoding& encoding_;
  const RowTable& table_;
  const Rotation& rotation_;
  Role role_;
  bool tabled_;                      // rows depend on one integer coordinate per pair
  Position first_scaled_;            // rows from here on have a query factor and are not in the table
  std::optional<ExactRows> exact_;   // created when a row is not in the table
  std::optional<ExactRows> scaled_;  // of the last query factor
  RowTable::Fill fill_;
  std::vector<float> scratch_;
  std::vector<float> other_;
  std::vector<double> mixed_;  // rows of all key heads
};

}  // namespace locus
