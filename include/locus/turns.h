// SPDX-License-Identifier: Apache-2.0
// Angles as 64-bit binary fractions of a turn, so that position times frequency wraps exactly.
#pragma once

#include <cstdint>

#include "locus/double_double.h"
#include "locus/site.h"

namespace locus {

/// Converts radians per position to turns per position, rounded to 2^-64. Whole turns are dropped.
Turns to_turns(DoubleDouble radians_per_position);

/// Returns the angle of `position` in radians, in (-pi, pi]; that of position 0 is `start`.
/// Accuracy: |position| * 1.8e-19 + 4e-16.
inline double angle_of(Turns turns, Position position, Turns start = 0) {
  const std::uint64_t phase = turns * static_cast<std::uint64_t>(position) + start;
  return static_cast<double>(static_cast<std::int64_t>(phase)) * (2 * 0x1p-64 * double_double_pi.hi);
}

}  // namespace locus
