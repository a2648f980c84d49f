// SPDX-License-Identifier: Apache-2.0
// Seeded numbers, the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

namespace locus::doctor {

class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}

  /// 0 ... most, both included.
  std::int64_t up_to(std::int64_t most) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((state_ >> 33) % static_cast<std::uint64_t>(most + 1));
  }

  /// Multiples of 1/64 in [-2, 2]: eight bits, so that float32, bfloat16 and float16 hold them exactly.
  std::vector<double> elements(std::int64_t count) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(up_to(256) - 128) / 64);
    return values;
  }

 private:
  std::uint64_t state_;
};

}  // namespace locus::doctor
