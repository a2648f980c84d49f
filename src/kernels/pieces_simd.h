// SPDX-License-Identifier: Apache-2.0
// The interface to the SIMD targets of a bias that is linear in a number by column, piece by piece.
#pragma once

#include <cstdint>

namespace locus {

/// A run of columns of a row, up to column `end`, whose bias is slope x number + start.
struct PieceRun {
  std::int64_t end = 0;
  double slope = 0, start = 0;
};

/// One row. Numbers are readable up to whole vectors of double; columns beyond the last run are not touched.
struct PieceRow {
  const PieceRun* runs = nullptr;  ///< ends rise
  std::int64_t count = 0;          ///< at least 1
  const double* numbers = nullptr;
  float* scores = nullptr;
};

/// The sums over a run of the columns of a row.
struct PieceSums {
  std::int64_t begin = 0, end = 0;
  // By the column, all three readable up to whole vectors of double.
  const float* gradients = nullptr;
  const double *numbers = nullptr, *slopes = nullptr;
  double plain = 0, with_number = 0, with_slope = 0;  ///< of gradient, gradient x number, gradient x slope
};

/// Sets the sums.
/// Accuracy: sums in double, in the order of the machine's vectors.
void sum_pieces(PieceSums& sums);

/// scores += float(slope x number + start).
/// Accuracy: two roundings of double and one of float32 for the bias, then that of the sum.
void add_pieces(const PieceRow& row);

}  // namespace locus
