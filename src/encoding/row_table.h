// SPDX-License-Identifier: Apache-2.0
// Rows that were already computed: a table that grows block by block from position 0.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "locus/position_ids.h"

namespace locus {

/// Blocks of 256 rows, built in order while they fit under a byte cap. Reading takes no lock: a block is published by
/// one atomic store once it is complete, and never moves. Far or scattered positions are not stored at all, so that one
/// row at 2^31 - 1 costs nothing but itself.
class RowTable {
 public:
  static constexpr std::int64_t block_rows = 256;

  RowTable(std::int64_t row_floats, std::size_t byte_cap);

  /// Fills `count` rows from `first` on.
  using Fill = std::function<void(Position first, std::int64_t count, float* rows)>;

  /// The row of `position`, or null where it has not been built.
  const float* built_row(Position position) const {
    const auto block = static_cast<std::uint64_t>(position) / static_cast<std::uint64_t>(block_rows);
    if (block >= static_cast<std::uint64_t>(max_blocks_)) return nullptr;  // negative ones too
    const float* rows = blocks_[block].load(std::memory_order_acquire);
    return rows == nullptr ? nullptr : rows + position % block_rows * row_floats_;
  }
  /// The row of `position`, or null where it is not in the table and is not next in line. Calls `fill` for a block that
  /// is next; several threads may ask at once.
  const float* row(Position position, const Fill& fill) const;

  std::size_t bytes() const;  ///< held now

 private:
  std::int64_t row_floats_;
  std::int64_t max_blocks_;
  std::unique_ptr<std::atomic<const float*>[]> blocks_;
  mutable std::mutex growing_;
  mutable std::vector<std::vector<float>> owned_;
  mutable std::atomic<std::int64_t> built_{0};
};

}  // namespace locus
