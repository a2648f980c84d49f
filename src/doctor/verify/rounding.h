// SPDX-License-Identifier: Apache-2.0
// Bounds the error of a right implementation, given the type it computes in.
#pragma once

#include <optional>
#include <span>

#include "doctor/heads_array.h"
#include "locus/site.h"

namespace locus::doctor {

/// From this id on, float32 angles are an error, unless the encoding's profile has them.
inline constexpr Position float32_limit = 65'521;

/// The error of a float32 angle, in radians per radian. float32 rounds the frequency, by up to two units, and the
/// product.
inline constexpr double float32_angle_error = 4 * 0x1p-24;

/// Whether float32 angles at these ids are off by less than a radian: beyond, any number is within their error.
bool float32_tells(std::span<const Position> ids);

struct Rounding {
  ElementType type = ElementType::float32;
  bool float32_angles = false;  ///< allowed at every position
  bool any_pair = false;        ///< the pairing is unknown: bounds use the whole vector
  double table = 0;             ///< roundoff of cos and sin if the tables are rounded

  bool narrow() const { return type == ElementType::bfloat16 || type == ElementType::float16; }
  double unit() const { return unit_roundoff(type); }

  /// Bounds the error of the angle `frequency` x `position`, in radians.
  double angle_error(double frequency, Position position) const;

  /// Bounds the error of a rotated coordinate. `pair` and `vector` are the lengths of its pair and of its head.
  double rotated(double pair, double vector, double angle) const;
};

/// Finds the coarsest of bfloat16, float16 and float32 that holds every number.
class TypeFinder {
 public:
  void see(std::span<const double> values);
  ElementType found() const;

 private:
  bool bfloat16_ = true, float16_ = true;
};

}  // namespace locus::doctor
