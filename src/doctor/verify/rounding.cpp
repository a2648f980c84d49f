// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/rounding.h"

#include <algorithm>
#include <cmath>

#include "doctor/verify/fault_model.h"

namespace locus::doctor {

double rounded_to(ElementType type, double value) {
  switch (type) {
    case ElementType::float32:
      return static_cast<double>(static_cast<float>(value));
    case ElementType::bfloat16:
      return static_cast<double>(to_float(to_bfloat16(value)));
    case ElementType::float16:
      return static_cast<double>(to_float(to_float16(value)));
    case ElementType::float64:
      break;
  }
  return value;
}

bool float32_tells(std::span<const Position> ids) {
  return std::all_of(ids.begin(), ids.end(),
                     [](Position id) { return float32_angle_error * std::fabs(static_cast<double>(id)) < 1; });
}

double Rounding::angle_error(double frequency, Position position) const {
  const double distance = std::fabs(static_cast<double>(position)) + 1;
  const bool allowed = float32_angles || distance <= static_cast<double>(float32_limit);
  return frequency * distance * (allowed ? float32_angle_error : 0x1p-52);
}

// float32: 16 roundings of the vector's length. Narrow types round cos and sin, both products and their sum: at most 2
// sqrt(2) + 1 units of the pair's length.
double Rounding::rotated(double pair, double vector, double angle) const {
  if (any_pair) pair = vector;
  // A table entry near a rounding boundary may be rounded either way.
  const double own = 16 * 0x1p-24 * vector + (angle + 3 * table) * pair;
  return narrow() ? own + 5 * unit() * pair + (type == ElementType::float16 ? 0x1p-24 : 0.0) : own;
}

void TypeFinder::see(std::span<const double> values) {
  for (const double value : values) {
    if (std::isnan(value)) continue;
    bfloat16_ = bfloat16_ && rounded_to(ElementType::bfloat16, value) == value;
    float16_ = float16_ && rounded_to(ElementType::float16, value) == value;
  }
}

// float16 holds most bfloat16 numbers, but not the other way round.
ElementType TypeFinder::found() const {
  if (bfloat16_) return ElementType::bfloat16;
  return float16_ ? ElementType::float16 : ElementType::float32;
}

}  // namespace locus::doctor
