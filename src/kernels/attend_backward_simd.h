// SPDX-License-Identifier: Apache-2.0
// The interface between the backward pass of attention and its SIMD targets, in addition to attend_simd.h. Scores are
// in base 2 and layouts are those of attend_simd.h.
#pragma once

#include <cstdint>

#include "kernels/attend_simd.h"

namespace locus {

/// Converts scores to weights, 2^(score - log_sum_exp), and products to weight x (product - mean). Masked columns
/// become 0 in both. Writes whole vectors: a row has space for its columns rounded up to a panel.
struct WeightTile {
  TileRows shape;
  float* scores = nullptr;    ///< [rows][stride]
  float* products = nullptr;  ///< the same
  std::int64_t stride = 0;
  const float* log_sum_exp = nullptr;  ///< per row, in base 2; +infinity for a row that sees nothing
  const float* mean = nullptr;         ///< per row
};

/// output += weights^T . values, for the columns of a tile. Weights of masked columns are 0.
struct TransposedTile {
  TileRows shape;
  std::int64_t dim = 0;            ///< padded to whole panels of values
  const float* weights = nullptr;  ///< [rows][stride]
  std::int64_t stride = 0;
  const float* values = nullptr;  ///< packed by rows of the tile, from its first row
  std::int64_t panel_stride = 0;  ///< from one panel of values to the next
  float* output = nullptr;        ///< [columns][dim]
};

/// Accuracy: a weight is within 2 float32 ulp of 2^x, with one rounding of x; an output has one rounding per row.
struct AttendBackwardKernels {
  void (*weights)(const WeightTile& tile);
  void (*transposed)(const TransposedTile& tile);
};

/// Returns the best kernels of this machine, with the panels of attend_kernels() for heads of this width.
AttendBackwardKernels attend_backward_kernels(std::int64_t head_dim);

}  // namespace locus
