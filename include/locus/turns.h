// SPDX-License-Identifier: Apache-2.0
// Angles as 64-bit binary fractions of a turn: position times frequency wraps exactly.
#pragma once

#include <cstdint>

#include "locus/double_double.h"
#include "locus/site.h"

namespace locus {

/// A frequency in radians per position as turns per position, rounded to 2^-64; whole turns are dropped.
Turns to_turns(DoubleDouble radians_per_position);

/// The angle of `position` in (-pi, pi], in radians: wraps exactly, off by at most |position| * 1.8e-19 + 4e-16.
inline double angle_of(Turns turns, Position position) {
  const std::uint64_t phase = turns * static_cast<std::uint64_t>(position);
  return static_cast<double>(static_cast<std::int64_t>(phase)) * (2 * 0x1p-64 * double_double_pi.hi);
}

}  // namespace locus
