// SPDX-License-Identifier: Apache-2.0
// Claims: what a scheme promises. They select the property tests that a scheme must pass.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace locus {

enum class Claim : std::uint8_t {
  relative,            ///< attention depends on differences of positions only
  norm_preserving,     ///< vectors keep their length
  linear_in_distance,  ///< the score falls by the same amount per step of distance
  distance_only,       ///< the score term is the same for both signs of the offset
  decaying,            ///< the score term never grows with distance
  linear_shift,        ///< row p + k is one linear map of row p, the same for all p
  cache_safe,          ///< a cached key stays right as the sequence grows
  negative_positions,  ///< accepts positions below zero
  unbounded,           ///< accepts positions up to 2^31 - 1
  causal_only,         ///< for causal attention only
  learned,             ///< has trained weights
};

/// A set of claims.
class Claims {
 public:
  constexpr Claims() = default;
  constexpr Claims(std::initializer_list<Claim> claims) {
    for (const Claim claim : claims) bits_ |= bit(claim);
  }
  constexpr bool has(Claim claim) const { return (bits_ & bit(claim)) != 0; }
  constexpr Claims with(Claim claim) const { return Claims(bits_ | bit(claim)); }
  constexpr Claims without(Claim claim) const { return Claims(bits_ & ~bit(claim)); }
  std::vector<Claim> all() const;
  friend constexpr bool operator==(Claims, Claims) = default;

 private:
  constexpr explicit Claims(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t bit(Claim claim) { return std::uint32_t{1} << static_cast<int>(claim); }
  std::uint32_t bits_ = 0;
};

std::string_view name_of(Claim claim);

}  // namespace locus
