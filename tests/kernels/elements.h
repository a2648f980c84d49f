// SPDX-License-Identifier: Apache-2.0
// The four element types for generic tests: values, bits, and the size of a rounding.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "locus/element.h"

namespace locus::testing {

/// Calls function(T()) for every element type.
template <class Function>
void for_every_type(const Function& function) {
  const auto traced = [&](auto zero) {
    SCOPED_TRACE(name_of(element_type_of<decltype(zero)>));
    function(zero);
  };
  traced(float());
  traced(double());
  traced(BFloat16());
  traced(Float16());
}

inline double value_of(float element) { return static_cast<double>(element); }
inline double value_of(double element) { return element; }
inline double value_of(BFloat16 element) { return static_cast<double>(to_float(element)); }
inline double value_of(Float16 element) { return static_cast<double>(to_float(element)); }

inline void set(float& element, double value) { element = static_cast<float>(value); }
inline void set(double& element, double value) { element = value; }
inline void set(BFloat16& element, double value) { element = to_bfloat16(value); }
inline void set(Float16& element, double value) { element = to_float16(value); }

template <class T>
T element(double value) {
  T result;
  set(result, value);
  return result;
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}
template <class T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return same_bits(std::span<const T>(a), std::span<const T>(b));
}

/// Half the distance between neighbours of type T at `value`: the largest error of rounding to nearest.
template <class T>
double half_ulp(double value) {
  constexpr ElementType type = element_type_of<T>;
  constexpr int digits = type == ElementType::float64    ? 53
                         : type == ElementType::float32  ? 24
                         : type == ElementType::bfloat16 ? 8
                                                         : 11;
  constexpr int least_exponent = type == ElementType::float64 ? -1022 : type == ElementType::float16 ? -14 : -126;
  const int exponent = value == 0 ? least_exponent : std::max(std::ilogb(value), least_exponent);
  return std::ldexp(1.0, exponent - digits);
}

/// The error of a result with error `e` in float32 around `want` after rounding to T.
template <class T>
double rounded_error(double want, double e) {
  return sizeof(T) == 2 ? half_ulp<T>(std::fabs(want) + e) + e : e;
}

/// Uniform in [-1, 1). A linear congruential generator (Knuth's MMIX): good enough and fast.
template <class T>
std::vector<T> random_elements(std::size_t count, std::uint64_t seed) {
  std::vector<T> values(count);
  for (T& value : values) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    set(value, static_cast<double>(static_cast<std::int64_t>(seed)) * 0x1p-63);
  }
  return values;
}

}  // namespace locus::testing
