// SPDX-License-Identifier: Apache-2.0
// Rotates keys that are already rotated: from one position to another, from one table to another, or both.
#pragma once

#include <span>
#include <vector>

#include "kernels/rotate_simd.h"
#include "locus/encoding.h"

namespace locus {

/// The encodings before and after. Null means not rotated, so a transition from null is a plain rotation.
struct Transition {
  const Encoding* from = nullptr;
  const Encoding* to = nullptr;
};

/// Rows of one head, `stride` elements apart, and their turns: that of row t is at turns + t * turn_stride.
struct TurnedRows {
  const void* in = nullptr;
  void* out = nullptr;  ///< not `in` if the layouts differ
  std::int64_t rows = 0;
  std::int64_t in_stride = 0, out_stride = 0;
  const float* turns = nullptr;
  std::int64_t turn_stride = 0;  ///< 0: one turn for all rows
};

/// How keys turn in a transition. The turn of a key is a row [cos | sin] in float32, computed in double; applying it
/// costs one rounding of the element type at any distance. Keeps references to the encodings.
class KeyTurn {
 public:
  explicit KeyTurn(const Transition& change);

  /// Returns the number of floats of a turn.
  std::int64_t size() const { return 2 * pairs_; }
  /// Whether the turn from one position to another of the same encoding depends on their difference alone.
  bool by_difference() const { return by_difference_; }
  /// Fills the turn of a key at `from` that moves to `to`, one id per axis; `from` is not read if the key is not
  /// rotated yet. With by_difference() and a difference of at most max_position the row is that of the difference.
  void fill(std::span<const Position> from, std::span<const Position> to, float* turn) const;
  /// Turns rows of elements. Copies the coordinates that are not rotated.
  void apply(ElementType type, const TurnedRows& rows) const;

 private:
  Transition change_;
  const Rotation& rotation_;
  std::int64_t pairs_;
  bool by_difference_;
  Rotation differences_;
  bool interleaved_in_, interleaved_out_;
};

}  // namespace locus
