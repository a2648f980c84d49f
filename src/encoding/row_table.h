// SPDX-License-Identifier: Apache-2.0
// A table of computed rows that grows block by block from position 0.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "locus/position_ids.h"

namespace locus {

/// Blocks of 256 rows, built in order up to a byte cap. Reading takes no lock: a complete block is published by one
/// atomic store and never moves. Far or scattered positions are not stored, so a row at 2^31 - 1 does not extend the
/// table.
class RowTable {
 public:
  static constexpr std::int64_t block_rows = 256;

  RowTable(std::int64_t row_floats, std::size_t byte_cap);

  /// Fills `count` rows from `first` on.
  using Fill = std::function<void(Position first, std::int64_t count, float* rows)>;

  /// Returns the row of `position`, or null if it has not been built.
  const float* built_row(Position position) const {
    const auto block = static_cast<std::uint64_t>(position) / static_cast<std::uint64_t>(block_rows);
    if (block >= static_cast<std::uint64_t>(max_blocks_)) return nullptr;  // also negative positions
    const float* rows = blocks_[block].load(std::memory_order_acquire);
    return rows == nullptr ? nullptr : rows + position % block_rows * row_floats_;
  }
  /// Returns the row of `position`. Builds its block with `fill` if it is the next one, else returns null for a row
  /// that is not in the table. Several threads may call at once.
  const float* row(Position position, const Fill& fill) const;

  std::size_t bytes() const;  ///< held at present

 private:
  std::int64_t row_floats_;
  std::int64_t max_blocks_;
  std::unique_ptr<std::atomic<const float*>[]> blocks_;
  mutable std::mutex growing_;
  mutable std::vector<std::vector<float>> owned_;
  mutable std::atomic<std::int64_t> built_{0};
};

}  // namespace locus
