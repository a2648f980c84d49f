// SPDX-License-Identifier: Apache-2.0
// The boundary between matrix products and their SIMD targets: rows of stored weights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "probe/weights.h"

namespace locus::probe {

/// out[r - begin] = row r of `matrix` times x, for r in [begin, end), weights decoded and summed in float32.
/// |error| <= (columns / 8 + 8) 2^-24 sum |w x| on targets of 8 lanes; any lanes: <= columns 2^-24 sum |w x|.
void dot_rows(const Matrix& matrix, std::int64_t begin, std::int64_t end, const float* x, float* out);

/// Rows [begin, end) as float32, behind each other; the same bits as ggml's own decoding.
void decode_rows(const Matrix& matrix, std::int64_t begin, std::int64_t end, float* out);

/// out[t * out_stride + r] = sum over k of rows[r * columns + k] x[t * columns + k]: what sgemm does, where there is
/// none.
void multiply_rows(const float* rows, std::int64_t row_count, std::int64_t columns, const float* x, std::int64_t tokens,
                   float* out, std::int64_t out_stride);

}  // namespace locus::probe
