// SPDX-License-Identifier: Apache-2.0
// The limits of the machine: the loops that kernels are compared with.
#pragma once

#include <cstddef>

namespace locus::bench {

/// The loops run on the best SIMD target that may be used (simd_targets.h); at_best_width() finds the fastest one.
std::size_t vector_bytes();
/// values[i] *= factor, in order.
void scale_linear(float* values, std::size_t count, float factor);
/// The same over two streams half a head apart, the access pattern of a rotation of halves.
void scale_two_streams(float* values, std::size_t count, std::size_t head_dim, float factor);
/// Writes every value with ordinary stores.
void write_stream(float* values, std::size_t count, float value);
/// values[i] += row[i mod dim].
void add_repeated_row(float* values, std::size_t count, const float* row, std::size_t dim);
/// Reads every value once, in order.
void read_stream(const float* values, std::size_t count);
/// Computes one row [cos | sin] of position times each frequency with Highway's double sine and cosine; `width` is a
/// multiple of the vector size.
void highway_row(double position, const double* frequencies, std::size_t width, float* row);
/// Performs about that many floating-point operations (a fused multiply-add counts two) in 12 independent chains in
/// registers: the peak of one thread.
void fma_chains(double flops);

}  // namespace locus::bench
