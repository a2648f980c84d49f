// SPDX-License-Identifier: Apache-2.0
// The boundary between matrix products and their SIMD targets: rows of stored weights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "probe/weights/integer_row.h"
#include "probe/weights/weights.h"

namespace locus::probe {

/// out[r - begin] = row r of `matrix` times x, for r in [begin, end), in float32. Quantised types meet `integers`, and
/// the sums inside a group of 32 are exact; the others meet `x`.
/// |error| <= columns 2^-24 sum |w x|, and for quantised types sum over k of |w_k| 2^-16 m_k more (see IntegerRow); |w|
/// is the sum of the absolute values of scale x integer and minimum where a type has both.
void dot_rows(const Matrix& matrix, std::int64_t begin, std::int64_t end, const float* x, const IntegerRow& integers,
              float* out);

/// Rows [begin, end) as float32, contiguous, each element rounded at most twice.
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
