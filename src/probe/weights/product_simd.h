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

/// out[t * out_stride + r] = sum over k of rows[r * columns + k] x[t * columns + k]: a replacement for sgemm.
void multiply_rows(const float* rows, std::int64_t row_count, std::int64_t columns, const float* x, std::int64_t tokens,
                   float* out, std::int64_t out_stride);

}  // namespace locus::probe
