// SPDX-License-Identifier: Apache-2.0
// The interface between rows of cosines and sines and their SIMD targets.
//
// The row of position p = 1024 a + 32 b + c is the row of 1024 a (the far anchor), rotated by the row of 32 b, which
// gives the anchor, and by the row of c (the step), all in double, rounded once. Far anchors and steps come from one
// polynomial of a phase that was reduced as an integer. Every request, consecutive or scattered, performs the same
// operations and so gets the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "locus/site.h"

namespace locus {

inline constexpr Position steps_per_anchor = 32;
inline constexpr Position steps_per_far_anchor = 1024;
constexpr Position far_anchor_of(Position position) { return position & ~(steps_per_far_anchor - 1); }
constexpr Position anchor_of(Position position) { return position & ~(steps_per_anchor - 1); }
constexpr Position step_of(Position position) { return position & (steps_per_anchor - 1); }

/// cos and sin, times `magnitude`, of `count` phases in turns of 2^-64. Accuracy: 3e-16 times the magnitude.
void phases_to_cos_sin(const std::uint64_t* phases, std::size_t count, double magnitude, double* cos, double* sin);

/// Computes `rows` float32 rows: cos + i sin = (anchor's cos + i sin) (step's cos + i sin), rounded once. The anchor
/// is [cos | sin] of `width` entries each; steps follow each other in the same form. Row r is stored at cos + r *
/// stride, sin + r * stride.
void combine_rows(const double* anchor, const double* steps, std::size_t width, std::size_t rows, float* cos,
                  float* sin, std::size_t stride);

/// out = first[0], second[0], first[1], second[1], ...
void interleave(const float* first, const float* second, std::size_t count, float* out);

}  // namespace locus
