// SPDX-License-Identifier: Apache-2.0
// How far from the truth a right implementation may be, by the type that it computes in.
#pragma once

#include <optional>
#include <span>

#include "doctor/heads_array.h"
#include "locus/site.h"

namespace locus::doctor {

/// From here on angles in float32 are an error of their own, unless the encoding's profile has them.
inline constexpr Position float32_limit = 65'521;

/// How far a float32 angle may be off, in radians per radian: float32 rounds the frequency, by up to two units, and the
/// product.
inline constexpr double float32_angle_error = 4 * 0x1p-24;

/// Whether float32 angles at these ids are off by less than a radian: beyond, any number is within their error.
bool float32_tells(std::span<const Position> ids);

struct Rounding {
  ElementType type = ElementType::float32;
  bool float32_angles = false;  ///< at every position
  bool any_pair = false;        ///< which coordinates form a pair is not known: bounds are those of the whole vector
  double table = 0;             ///< of cos and sin, where they are meant to be rounded: half a unit in the last place

  bool narrow() const { return type == ElementType::bfloat16 || type == ElementType::float16; }
  double unit() const { return unit_roundoff(type); }

  /// Of an angle of `frequency` x `position`, in radians.
  double angle_error(double frequency, Position position) const;

  /// Of a coordinate that was rotated: `pair` and `vector` are the lengths of its pair and of its head.
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
