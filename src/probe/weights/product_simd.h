// SPDX-License-Identifier: Apache-2.0
// The interface between matrix products and their SIMD targets: rows of stored weights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "probe/weights/integer_row.h"
#include "probe/weights/weights.h"

namespace locus::probe {

/// out[r - begin] = row r of `matrix` times x, for r in [begin, end), in float32. Quantised types are multiplied by
/// `integers`, with exact sums within a group of 32; the others by `x`.
/// Accuracy: columns 2^-24 sum |w x|, plus, for quantised types, the sum over k of |w_k| 2^-16 m_k (see IntegerRow),
/// where |w| is the sum of the absolute values of scale x integer and minimum if a type has both.
void dot_rows(const Matrix& matrix, std::int64_t begin, std::int64_t end, const float* x, const IntegerRow& integers,
              float* out);

/// Decodes rows [begin, end) to contiguous float32, each element rounded at most twice.
void decode_rows(const Matrix& matrix, std::int64_t begin, std::int64_t end, float* out);

/// Contiguous rows in float32.
struct DenseRows {
  const float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// out[t * out_stride + r] = sum over k of w[r][k] x[t][k]: what sgemm does, where there is none.
void multiply_rows(const DenseRows& w, const DenseRows& x, float* out, std::int64_t out_stride);

}  // namespace locus::probe
