// SPDX-License-Identifier: Apache-2.0
// Element types of tensors: float32, float64, and the two 16-bit storage formats with conversions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace locus {

enum class ElementType : std::uint8_t { float32, float64, bfloat16, float16 };

/// A bfloat16 value as stored: the upper half of a float32.
struct BFloat16 {
  std::uint16_t bits = 0;
  friend bool operator==(BFloat16, BFloat16) = default;
};

/// An IEEE binary16 value as stored.
struct Float16 {
  std::uint16_t bits = 0;
  friend bool operator==(Float16, Float16) = default;
};

/// Convert with one rounding to nearest, ties to even, also from double. NaN becomes a quiet NaN, overflow infinity.
BFloat16 to_bfloat16(float value);
Float16 to_float16(float value);
Float16 to_float16(double value);
BFloat16 to_bfloat16(double value);

/// Convert exactly.
inline float to_float(BFloat16 value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16); }
float to_float(Float16 value);
inline float to_float(float value) { return value; }

/// Returns the bytes per element.
std::size_t size_of(ElementType type);
std::string_view name_of(ElementType type);

template <class T>
struct ElementTypeOf;
template <>
struct ElementTypeOf<float> {
  static constexpr ElementType value = ElementType::float32;
};
template <>
struct ElementTypeOf<double> {
  static constexpr ElementType value = ElementType::float64;
};
template <>
struct ElementTypeOf<BFloat16> {
  static constexpr ElementType value = ElementType::bfloat16;
};
template <>
struct ElementTypeOf<Float16> {
  static constexpr ElementType value = ElementType::float16;
};
template <class T>
inline constexpr ElementType element_type_of = ElementTypeOf<T>::value;

}  // namespace locus
