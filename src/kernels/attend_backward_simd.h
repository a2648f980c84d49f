// SPDX-License-Identifier: Apache-2.0
// The boundary between the backward pass of attention and its SIMD targets: what attend_simd.h does not have. Scores
// are in base 2 and layouts are those of attend_simd.h.
#pragma once

#include <cstdint>

#include "kernels/attend_simd.h"

namespace locus {

/// Scores become weights, 2^(score - log_sum_exp); products become weight x (product - mean). Columns that take no
/// part become 0 in both. Whole vectors are written: a row has room for its columns rounded up to a panel.
struct WeightTile {
  TileRows shape;
  float* scores = nullptr;    ///< [rows][stride]
  float* products = nullptr;  ///< the same
  std::int64_t stride = 0;
  const float* log_sum_exp = nullptr;  ///< per row, in base 2; +infinity for a row that sees nothing
  const float* mean = nullptr;         ///< per row
};

/// output += weights^T . values, for the columns of a tile; weights of columns that take no part are 0.
struct TransposedTile {
  TileRows shape;
  std::int64_t dim = 0;            ///< padded to whole panels
  const float* weights = nullptr;  ///< [rows][stride]
  std::int64_t stride = 0;
  const float* values = nullptr;  ///< packed by rows of the tile, from its first row
  std::int64_t panel_stride = 0;  ///< from one panel of values to the next
  float* output = nullptr;        ///< [columns][dim]
};

/// Errors: a weight is within 2 float32 ulp of 2^x and has one rounding of x; an output has one rounding per row.
struct AttendBackwardKernels {
  void (*weights)(const WeightTile& tile);
  void (*transposed)(const TransposedTile& tile);
};

/// The best of this machine.
AttendBackwardKernels attend_backward_kernels();

}  // namespace locus
