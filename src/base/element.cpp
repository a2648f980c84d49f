// SPDX-License-Identifier: Apache-2.0
#include "locus/element.h"

#include <cmath>
#include <limits>

namespace locus {
namespace {

// Rounds a finite double to a float, to odd: exact results stay, inexact ones get their last bit set. A second
// rounding to fewer bits then equals rounding the double directly.
float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(nearest)) return nearest;
  const float truncated =
      std::fabs(static_cast<double>(nearest)) > std::fabs(value) ? std::nextafter(nearest, 0.0f) : nearest;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(truncated) | 1u);
}

}  // namespace

BFloat16 to_bfloat16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return {static_cast<std::uint16_t>((bits >> 16) | 0x40u)};
  // Adding 0x7fff, or 0x8000 if the kept part is odd, carries exactly when the value must be rounded up.
  return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

BFloat16 to_bfloat16(double value) { return to_bfloat16(round_to_odd(value)); }

Float16 to_float16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return {static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu))};
  if (magnitude >= 0x477ff000u) return {static_cast<std::uint16_t>(sign | 0x7c00u)};  // 65520 and beyond
  if (magnitude < 0x38800000u) {                                                      // below 2^-14: subnormal
    // Adding 2^-1 puts the half-precision subnormal's unit (2^-24) at the last bit of the float's significand, so the
    // addition itself rounds to nearest even.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return {static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) & 0x7ffu))};
  }
  const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return {static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13))};
}

Float16 to_float16(double value) { return to_float16(round_to_odd(value)); }

float to_float(Float16 value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000u) << 16;
  const std::uint32_t exponent = (value.bits >> 10) & 0x1fu;
  const std::uint32_t fraction = value.bits & 0x3ffu;
  if (exponent == 0x1fu) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent == 0) {
    const float subnormal = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -subnormal : subnormal;
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (fraction << 13));
}

std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::float32:
      return 4;
    case ElementType::float64:
      return 8;
    case ElementType::bfloat16:
    case ElementType::float16:
      return 2;
  }
  return 0;
}

std::string_view name_of(ElementType type) {
  switch (type) {
    case ElementType::float32:
      return "float32";
    case ElementType::float64:
      return "float64";
    case ElementType::bfloat16:
      return "bfloat16";
    case ElementType::float16:
      return "float16";
  }
  return "?";
}

}  // namespace locus
