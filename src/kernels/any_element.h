// SPDX-License-Identifier: Apache-2.0
// One element of any type, as a double: for passes that compute in double.
#pragma once

#include <cstddef>
#include <cstdint>

#include "locus/element.h"

namespace locus {

inline double element_at(ElementType type, const std::byte* from, std::int64_t j) {
  switch (type) {
    case ElementType::float32:
      return static_cast<double>(reinterpret_cast<const float*>(from)[j]);
    case ElementType::float64:
      return reinterpret_cast<const double*>(from)[j];
    case ElementType::bfloat16:
      return static_cast<double>(to_float(reinterpret_cast<const BFloat16*>(from)[j]));
    case ElementType::float16:
      return static_cast<double>(to_float(reinterpret_cast<const Float16*>(from)[j]));
  }
  return 0;
}

inline void store_element(ElementType type, std::byte* to, std::int64_t j, double value) {
  const auto single = static_cast<float>(value);
  if (type == ElementType::float64) reinterpret_cast<double*>(to)[j] = value;
  if (type == ElementType::float32) reinterpret_cast<float*>(to)[j] = single;
  if (type == ElementType::bfloat16) reinterpret_cast<BFloat16*>(to)[j] = to_bfloat16(single);
  if (type == ElementType::float16) reinterpret_cast<Float16*>(to)[j] = to_float16(single);
}

}  // namespace locus
