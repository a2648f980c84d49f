// SPDX-License-Identifier: Apache-2.0
// Rotates keys that are already rotated: from one position to another, from one table to another, or both.
#pragma once

#include <span>

#include "locus/encoding.h"
#include "locus/rotate.h"

namespace locus {

/// The encodings before and after. Null means not rotated, so a transition from null is a plain rotation.
struct Transition {
  const Encoding* from = nullptr;
  const Encoding* to = nullptr;
};

/// Move t takes the token in input slot input_slots[t], at position from_ids[t], to output slot output_slots[t], at
/// position to_ids[t]. All four have the same length.
struct Moves {
  std::span<const std::int64_t> input_slots, output_slots;
  std::span<const Position> from_ids, to_ids;
};

/// Applies the moves in order. `output` may be `input` if no slot is read after it was written. If both encodings are
/// the same, the magnitude cancels.
/// Accuracy: a move is one rotation with cos and sin in double, so one rounding of the element type at any distance.
void transition(const Transition& change, const HeadsView& input, const HeadsView& output, const Moves& moves);

}  // namespace locus
