// SPDX-License-Identifier: Apache-2.0
// Seeded random numbers, identical on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"

namespace locus::doctor {

class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : random_(seed) {}

  /// Returns an integer in 0 ... most, both included.
  std::int64_t up_to(std::int64_t most) { return random_.between(0, most); }

  /// Returns multiples of 1/64 in [-2, 2]. They have eight bits, so float32, bfloat16 and float16 hold them exactly.
  std::vector<double> elements(std::int64_t count) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(up_to(256) - 128) / 64);
    return values;
  }

 private:
  Random random_;
};

}  // namespace locus::doctor
