// SPDX-License-Identifier: Apache-2.0
// Keys and values as 8-bit integers: number = scale * integer, with one scale per token and head.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace locus {

/// Rounds `count` numbers to integers from -127 to 127 and returns their scale. A head that is not finite gets a NaN
/// scale, so that it stays so.
inline float quantise(const float* from, std::int64_t count, std::int8_t* to) {
  float largest = 0;
  for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(from[i]));
  float sum = 0;  // NaN and infinity show here: the maximum ignores NaN
  for (std::int64_t i = 0; i < count; ++i) sum += from[i] * 0.0f;
  if (sum != 0) {
    std::fill_n(to, count, std::int8_t{1});
    return sum;
  }
  const float inverse = largest < 0x1p-120f ? 0 : 127 / largest;  // smaller ones would overflow it: they become 0
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<std::int8_t>(std::clamp(std::nearbyint(from[i] * inverse), -127.0f, 127.0f));
  }
  return largest / 127;
}

}  // namespace locus
