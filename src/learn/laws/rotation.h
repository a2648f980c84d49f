// SPDX-License-Identifier: Apache-2.0
// What the exercises on rotations share: a small case, the library's rotation of it, and the laws of rotations.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "learn/broken_law.h"
#include "learn/value.h"
#include "locus/encoding.h"

namespace locus::learn::rotation {

using Ids = std::vector<std::int64_t>;

inline constexpr std::int64_t tokens = 8, heads = 2, dim = 8;
inline const Ids ids = {0, 1, 2, 3, 5, 9, 17, 40};

/// The learner's function: x [tokens, heads, dim] at these positions.
using Rotate = std::function<Array(const Array& x, const Ids& positions)>;

/// RoPE of `dim` coordinates, of which the first `rotary_dim` are rotated.
Encoding rope(bool half, std::int64_t rotary_dim = dim);
/// x as the library rotates it.
std::vector<double> rotated(const Encoding& encoding, const Array& x, const Ids& positions);
/// Dot product of two heads.
double dot(const double* a, const double* b);

/// {token}, {head} and {position} of the row-th head of [tokens, heads].
Parameters place_of(std::size_t row, const Ids& positions);
/// Throws unless every head keeps its length.
void check_norms(const Array& x, const Array& turned, const Ids& positions, const std::string& cause);
/// Throws at the first law that `rotate` breaks: position 0, lengths, the relative identity, the angles, and the doctor's
/// own checks of scattered, packed and decoded ids. `width` is that of the slice; 0: all coordinates.
void check_rotation(const Encoding& encoding, bool half, std::int64_t width, const Rotate& rotate);

}  // namespace locus::learn::rotation
