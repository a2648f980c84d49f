// SPDX-License-Identifier: Apache-2.0
// A row in 16-bit integers: what quantised weights, integers themselves, are multiplied with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hwy/aligned_allocator.h"

namespace locus::probe {

/// 32 columns have one scale; of them those of even index come first, then those of odd index (see blocks-inl.h). x_k
/// lies within 1.0001 x 2^-16 m of scale x integer, m being the largest magnitude among its 32 columns, or within
/// 2^-110 where m is smaller than that. A column that is not finite makes its scale NaN.
struct IntegerRow {
  /// What stands beside the integers, one per group of columns.
  struct Groups {
    std::vector<float> scales;
    std::vector<float> integer_sums;
    std::vector<float> sums;  ///< scale x integer_sum
  };

  hwy::AlignedFreeUniquePtr<std::int16_t[]> integers;  ///< aligned: no vector of them crosses a cache line
  Groups by_32, by_16;

  IntegerRow() = default;
  explicit IntegerRow(std::span<const float> x);  ///< a multiple of 32 columns
};

}  // namespace locus::probe
