// SPDX-License-Identifier: Apache-2.0
// Seeded random numbers, the same on every machine: the standard fixes the engine's bits, but not those of its
// distributions, so the few that are needed are defined here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace locus {

/// A source of random choices. It is also a standard engine (std::shuffle).
class Random {
 public:
  using result_type = std::uint64_t;
  explicit Random(std::uint64_t seed = 0) : engine_(seed) {}

  static constexpr result_type min() { return std::mt19937_64::min(); }
  static constexpr result_type max() { return std::mt19937_64::max(); }
  result_type operator()() { return engine_(); }

  /// Returns 0 to count - 1; small numbers are more likely by less than count / 2^64.
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(count));
  }
  /// Returns first to last, both included.
  std::int64_t between(std::int64_t first, std::int64_t last) { return first + below(last - first + 1); }
  /// Returns a multiple of 2^-53 in [0, 1).
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  /// Returns one of the choices.
  template <class Choices>
  const auto& one_of(const Choices& choices) {
    return choices[static_cast<std::size_t>(engine_() % choices.size())];
  }

 private:
  std::mt19937_64 engine_;
};

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): bits that look random from any that are distinct.
inline std::uint64_t mixed_bits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
inline constexpr std::uint64_t golden_step = 0x9e3779b97f4a7c15u;  ///< from one state of SplitMix64 to the next

}  // namespace locus
