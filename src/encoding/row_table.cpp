// SPDX-License-Identifier: Apache-2.0
#include "encoding/row_table.h"

#include <algorithm>

namespace locus {

RowTable::RowTable(std::int64_t row_floats, std::size_t byte_cap)
    : row_floats_(row_floats),
      max_blocks_(std::min<std::int64_t>(
          static_cast<std::int64_t>(byte_cap / sizeof(float)) / std::max<std::int64_t>(row_floats * block_rows, 1),
          (max_position + 1) / block_rows)),
      blocks_(new std::atomic<const float*>[static_cast<std::size_t>(max_blocks_)]) {
  for (std::int64_t i = 0; i < max_blocks_; ++i) blocks_[static_cast<std::size_t>(i)].store(nullptr);
}

const float* RowTable::row(Position position, const Fill& fill) const {
  if (const float* kept = built_row(position)) return kept;
  const std::int64_t block = position / block_rows;
  if (position < 0 || block >= max_blocks_) return nullptr;
  if (block > built_.load(std::memory_order_acquire)) return nullptr;  // not the next block
  const std::lock_guard<std::mutex> lock(growing_);
  if (const float* kept = built_row(position)) return kept;  // built by another thread meanwhile
  std::vector<float> built(static_cast<std::size_t>(row_floats_ * block_rows));
  fill(block * block_rows, block_rows, built.data());
  owned_.push_back(std::move(built));
  blocks_[static_cast<std::size_t>(block)].store(owned_.back().data(), std::memory_order_release);
  built_.store(block + 1, std::memory_order_release);
  return built_row(position);
}

std::size_t RowTable::bytes() const {
  return static_cast<std::size_t>(built_.load() * block_rows * row_floats_) * sizeof(float);
}

}  // namespace locus
