// SPDX-License-Identifier: Apache-2.0
// A row as 16-bit integers, to multiply with quantised weights, which are integers too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hwy/aligned_allocator.h"

namespace locus::probe {

/// 32 columns share one scale; those of even index come first, then those of odd index (see blocks-inl.h). A column
/// that is not finite makes its scale NaN.
/// Accuracy: x_k is within 1.0001 x 2^-16 m of scale x integer, where m is the largest magnitude of the 32 columns,
/// or within 2^-110 if m is smaller than that.
struct IntegerRow {
  /// The scale and the sum of each group of columns.
  struct Groups {
    std::vector<float> scales;
    std::vector<float> integer_sums;
    std::vector<float> sums;  ///< scale x integer_sum
  };

  hwy::AlignedFreeUniquePtr<std::int16_t[]> integers;  ///< aligned, so that no vector crosses a cache line
  Groups by_32, by_16;

  IntegerRow() = default;
  explicit IntegerRow(std::span<const float> x);  ///< the number of columns must be a multiple of 32
};

}  // namespace locus::probe
