// SPDX-License-Identifier: Apache-2.0
// Turning keys that are rotated already: from one position to another, from one table to another, or both.
#pragma once

#include <span>
#include <vector>

#include "locus/encoding.h"
#include "locus/rotate.h"

namespace locus {

/// Where a key is and where it shall be. An absent encoding means not rotated: from nothing is a plain rotation.
struct Transition {
  const Encoding* from = nullptr;
  const Encoding* to = nullptr;
};

/// Turns token t of `input` from position from_ids[t] to to_ids[t] and puts it into token slots[t] of `output` (which
/// may be the input itself where slots are in order). The turn is one rotation whose cos and sin are made in double, so
/// that it costs one rounding of the element type however far it goes; with one encoding the magnitude cancels to 1.
void transition(const Transition& change, const HeadsView& input, const HeadsView& output,
                std::span<const std::int64_t> input_slots, std::span<const std::int64_t> output_slots,
                std::span<const Position> from_ids, std::span<const Position> to_ids);

}  // namespace locus
