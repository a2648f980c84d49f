// SPDX-License-Identifier: Apache-2.0
// The interface between attention and its SIMD targets: packed blocks in, tiles of scores and outputs out.
//
// A tile is a block of queries against a block of keys. Scores are in base 2 (the caller multiplies the queries by
// log2 e), so that exp2 needs no product. Layouts, with panels of one to four vectors of float32:
//
//   packed keys     [keys / key_panel][dim][key_panel]        transposed: a column of the tile per lane
//   packed values   [dim / value_panel][keys][value_panel]    a column of the output per lane
//
// both padded with zeros to whole panels. A panel of keys has as many vectors as the registers allow, a panel of values
// as many as suit the width of a head. Extents and strides count elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "locus/element.h"

namespace locus {

/// The visible columns of each row, relative to the tile; absent: all. Rows may differ.
struct TileRows {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const std::int32_t* begin = nullptr;
  const std::int32_t* end = nullptr;
};

/// scores = query . key (+ bias). Writes whole panels: a row of scores has space for its columns rounded up to a
/// panel.
struct ScoreTile {
  TileRows shape;
  std::int64_t dim = 0;
  const float* query = nullptr;  ///< [rows][query_stride]
  std::int64_t query_stride = 0;
  const float* keys = nullptr;  ///< packed, from the tile's first column
  const float* bias = nullptr;  ///< row i, column c adds bias[c - i]; readable up to whole panels; absent: no bias
  float* scores = nullptr;      ///< [rows][stride]
  std::int64_t stride = 0;
};

/// Scores turned into weights at once: 2^(score - reference) for visible columns, 0 for the others, up to whole panels.
/// No score may exceed its reference by more than 100. Their sum is added to `total`.
struct WeightedTile {
  ScoreTile scores;  ///< at most most_weighted_rows rows
  const float* reference = nullptr;
  double* total = nullptr;
};
inline constexpr std::int64_t most_weighted_rows = 128;

/// score = score + float(row - column), the difference in double.
struct DifferenceTile {
  std::int64_t rows = 0, columns = 0;
  const double* row = nullptr;
  const double* column = nullptr;
  float* scores = nullptr;  ///< [rows][stride]
  std::int64_t stride = 0;
};

/// One step of the online softmax: scores become 2^(score - top), where `top` is the largest so far; masked columns
/// become 0 up to whole vectors. Earlier sums must be multiplied by `rescale`.
struct SoftmaxTile {
  TileRows shape;
  float* scores = nullptr;
  std::int64_t stride = 0;
  float* top = nullptr;     ///< in and out; -infinity before the first step
  double* total = nullptr;  ///< in and out: the sum of weights
  float* rescale = nullptr;
};

/// output = output * rescale + weights . values.
struct ValueTile {
  TileRows shape;
  std::int64_t dim = 0;            ///< padded to whole panels of values
  const float* weights = nullptr;  ///< [rows][stride]
  std::int64_t stride = 0;
  const float* values = nullptr;   ///< packed, from the tile's first column
  std::int64_t panel_stride = 0;   ///< from one panel of values to the next
  const float* rescale = nullptr;  ///< absent: 1
  float* output = nullptr;         ///< [rows][dim]
};

/// Rows of one head as stored by the caller.
struct StoredRows {
  const void* data = nullptr;
  std::int64_t stride = 0;
  std::int64_t rows = 0;
  std::int64_t dim = 0;
  const std::byte* ahead = nullptr;  ///< unless null: as many bytes as these rows have, contiguous, that are read next
};

/// A weight per key in each row: that of key t is at data[row * stride + t].
struct WeightRows {
  const float* data = nullptr;
  std::int64_t stride = 0;
  std::int64_t rows = 0;
};

/// The functions of one SIMD target for one element type (float32, bfloat16, float16) and one width of heads.
/// Accuracy: a score has one rounding per coordinate, 2^x is within 2 float32 ulp and 0 below 2^-125, an output has
/// one rounding per key.
struct AttendKernels {
  std::int64_t key_panel;
  std::int64_t value_panel;
  void (*pack_keys)(const StoredRows& from, float* to);
  void (*pack_values)(const StoredRows& from, std::int64_t value_panel, float* to, std::int64_t panel_stride);
  void (*squares)(const StoredRows& from, float* to);  ///< of the norm of each row
  void (*widen_rows)(const StoredRows& from, float factor, float* to, std::int64_t to_stride);
  void (*scores)(const ScoreTile& tile);
  void (*weighted)(const WeightedTile& tile);
  void (*add_differences)(const DifferenceTile& tile);
  void (*cap)(const SoftmaxTile& tile, float limit);  ///< score = limit * tanh(score / limit)
  void (*softmax)(const SoftmaxTile& tile);
  void (*values)(const ValueTile& tile);
  void (*store_row)(const float* from, float factor, std::int64_t dim, void* to);

  // A few rows against stored keys and values, each read once.
  void (*stored_scores)(const StoredRows& keys, const float* query, std::int64_t query_stride, std::int64_t rows,
                        float* scores, std::int64_t stride);
  void (*stored_values)(const StoredRows& values, const WeightRows& weights, const float* rescale, float* output,
                        std::int64_t output_stride);
};

/// Returns the best kernels of this machine. Panels depend on `head_dim` and not on the type; callers that use neither
/// panels of values nor `values` need not give it.
AttendKernels attend_kernels(ElementType type, std::int64_t head_dim = 0);

/// stored_scores, stored_values and widen_rows of keys and values that are stored as 8-bit integers. Their scales are
/// the caller's business: on the scores, on the weights, or as the factor of a row.
struct IntegerKernels {
  decltype(AttendKernels::stored_scores) stored_scores;
  decltype(AttendKernels::stored_values) stored_values;
  decltype(AttendKernels::widen_rows) widen_rows;
};
IntegerKernels integer_kernels();

}  // namespace locus
