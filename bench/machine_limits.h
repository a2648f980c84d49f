// SPDX-License-Identifier: Apache-2.0
// What the machine itself can do: the loops that kernels are measured against.
#pragma once

#include <cstddef>

namespace locus::bench {

/// values[i] *= factor, in order.
void scale_linear(float* values, std::size_t count, float factor);
/// The same over two streams half a head apart, as a rotation of halves walks them.
void scale_two_streams(float* values, std::size_t count, std::size_t head_dim, float factor);
/// Writes every value, ordinary stores.
void write_stream(float* values, std::size_t count, float value);
/// values[i] += row[i mod dim].
void add_repeated_row(float* values, std::size_t count, const float* row, std::size_t dim);
/// Reads every value once, in order.
void read_stream(const float* values, std::size_t count);
/// One row [cos | sin] of position times each frequency by Highway's own double sine and cosine; `width` in whole
/// vectors.
void highway_row(double position, const double* frequencies, std::size_t width, float* row);
/// About that many floating-point operations (a fused multiply-add counts two) in 12 independent chains of fused
/// multiply-adds, in registers: the most that one thread can compute.
void fma_chains(double flops);

}  // namespace locus::bench
