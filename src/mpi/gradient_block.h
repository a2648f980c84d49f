// SPDX-License-Identifier: Apache-2.0
// The gradients of a block, which travel behind it or are summed over a tree of ranks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mpi/block.h"

namespace locus::mpi {

/// The gradients of the keys and values of a block, and of the numbers of its tokens, in one message.
class GradientBlock {
 public:
  GradientBlock(const BlockKind& kind, std::int64_t tokens)
      : kind_(kind),
        tokens_(tokens),
        numbers_(static_cast<std::size_t>(kind.batch * tokens * kind.number_heads * kind.numbers)),
        rows_(static_cast<std::size_t>(kind.batch * tokens * kind.heads * kind.head_dim)),
        bytes_(numbers_ * sizeof(double) + 2 * rows_ * sizeof(float)) {}

  std::span<std::byte> bytes() { return bytes_; }
  HeadsView numbers() {
    if (numbers_ == 0) return {};
    return contiguous_view(bytes_.data(), ElementType::float64, kind_.batch, tokens_, kind_.number_heads,
                           kind_.numbers);
  }
  HeadsView keys() { return rows(0); }
  HeadsView values() { return rows(1); }

  void add(const GradientBlock& other) {
    const auto sum = [](auto* to, const auto* from, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
    };
    const std::size_t after = numbers_ * sizeof(double);
    sum(reinterpret_cast<double*>(bytes_.data()), reinterpret_cast<const double*>(other.bytes_.data()), numbers_);
    sum(reinterpret_cast<float*>(bytes_.data() + after), reinterpret_cast<const float*>(other.bytes_.data() + after),
        2 * rows_);
  }

 private:
  HeadsView rows(std::size_t which) {
    return contiguous_view(bytes_.data() + numbers_ * sizeof(double) + which * rows_ * sizeof(float),
                           ElementType::float32, kind_.batch, tokens_, kind_.heads, kind_.head_dim);
  }
  BlockKind kind_;
  std::int64_t tokens_;
  std::size_t numbers_, rows_;
  std::vector<std::byte> bytes_;
};

}  // namespace locus::mpi
