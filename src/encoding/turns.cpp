// SPDX-License-Identifier: Apache-2.0
#include "locus/turns.h"

namespace locus {

Turns to_turns(DoubleDouble radians_per_position) {
  const DoubleDouble turns = radians_per_position / (double_double_pi * 2.0);
  const DoubleDouble fraction = turns - floor(turns);
  DoubleDouble units = floor(DoubleDouble{std::ldexp(fraction.hi, 64), std::ldexp(fraction.lo, 64)} + 0.5);
  if (units.hi >= 0x1p64) units.hi -= 0x1p64;  // a fraction just below 1 may round up to a whole turn
  // Both parts are integers; their sum modulo 2^64 is the result.
  const auto low = static_cast<std::int64_t>(units.lo);
  return static_cast<std::uint64_t>(units.hi) + static_cast<std::uint64_t>(low);
}

}  // namespace locus
