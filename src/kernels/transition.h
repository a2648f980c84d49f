// SPDX-License-Identifier: Apache-2.0
// Turning keys that are rotated already: from one position to another, from one table to another, or both.
#pragma once

#include <span>

#include "locus/encoding.h"
#include "locus/rotate.h"

namespace locus {

/// The tables before and after. An absent encoding means not rotated: from nothing is a plain rotation.
struct Transition {
  const Encoding* from = nullptr;
  const Encoding* to = nullptr;
};

/// Move t takes the token in input slot input_slots[t], at position from_ids[t], to output slot output_slots[t], at
/// position to_ids[t]. All four are equally long.
struct Moves {
  std::span<const std::int64_t> input_slots, output_slots;
  std::span<const Position> from_ids, to_ids;
};

/// Applies the moves one after another; `output` may be `input` where no slot is read after it was written.
/// Error: a move is one rotation, its cos and sin made in double: one rounding of the element type however far it goes.
/// With one encoding the magnitude cancels to 1.
void transition(const Transition& change, const HeadsView& input, const HeadsView& output, const Moves& moves);

}  // namespace locus
