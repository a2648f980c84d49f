// SPDX-License-Identifier: Apache-2.0
// Rotates keys that are already rotated: from one position to another, from one table to another, or both.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kernels/exact_rows.h"
#include "kernels/rotate_simd.h"
#include "locus/encoding.h"

namespace locus {

/// The encodings before and after. Null means not rotated, so a transition from null is a plain rotation.
struct Transition {
  const Encoding* from = nullptr;
  const Encoding* to = nullptr;
};

/// A turn as the product of two rows in double (exact_rows.h): of an anchor, and of one of the 32 steps from it on.
struct StepTurn {
  std::int32_t anchor = 0;  ///< index
  std::int32_t step = 0;
  friend bool operator==(const StepTurn&, const StepTurn&) = default;
};

/// By which rows turn: rows of their own, or one for all, or rows at any addresses, or one that is computed for each,
/// which takes less than reading it from memory.
struct KeyTurns {
  const float* rows = nullptr;  ///< [cos | sin] of the first
  std::int64_t stride = 0;      ///< from one to the next; 0: one for all
  const float* const* each = nullptr;
  const StepTurn* steps = nullptr;
  const double* anchors = nullptr;  ///< [anchors][cos | sin]

  bool any() const { return rows != nullptr || each != nullptr || steps != nullptr; }
  KeyTurns from(std::int64_t row) const {
    return {rows == nullptr ? nullptr : rows + row * stride, stride, each == nullptr ? nullptr : each + row,
            steps == nullptr ? nullptr : steps + row, anchors};
  }
  friend bool operator==(const KeyTurns&, const KeyTurns&) = default;
};

/// Rows of one head, `stride` elements apart, and their turns.
struct TurnedRows {
  const void* in = nullptr;
  void* out = nullptr;  ///< not `in` if the layouts differ
  std::int64_t rows = 0;
  std::int64_t in_stride = 0, out_stride = 0;
  KeyTurns turns = {};
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
  /// Whether a turn is the row of a difference on one axis, which is the product of an anchor and a step.
  bool by_steps() const { return steps_.has_value(); }
  /// Fills the row of an anchor (anchor_of() a difference), [cos | sin].
  void fill_anchor(Position anchor, double* row) const;
  /// Computes the turn that is the product of the row of an anchor and a step.
  void multiply(const double* anchor, std::int64_t step, float* turn) const;
  /// Turns rows of elements. Copies the coordinates that are not rotated.
  void apply(ElementType type, const TurnedRows& rows) const;

 private:
  void apply_given(ElementType type, const TurnedRows& rows) const;

  Transition change_;
  const Rotation& rotation_;
  std::int64_t pairs_;
  bool by_difference_;
  Rotation differences_;
  std::optional<StepRows> steps_;
  bool interleaved_in_, interleaved_out_;
};

}  // namespace locus
