// SPDX-License-Identifier: Apache-2.0
// Rows of numbers for one token: the cos and sin that rotate it, or the vector that is added to it.
//
// A row depends on nothing but the encoding and the token's ids, so it has the same bits however it was asked for.
#pragma once

#include <span>

#include "locus/site.h"

namespace locus {

/// Fills cos and sin (each `rotation.pairs()` long, times magnitude and scale) for one token, whose ids are one per
/// axis. The exact profile is within half a float32 ulp of the magnitude plus 2e-9 of the true value; the double form
/// within 1e-15 + |id| * 2e-19. Other profiles give what the engine's float32 arithmetic gives. Ids must have been
/// checked.
void rotation_row(const Rotation& rotation, Role role, std::span<const Position> ids, std::span<float> cos,
                  std::span<float> sin);
void rotation_row(const Rotation& rotation, Role role, std::span<const Position> ids, std::span<double> cos,
                  std::span<double> sin);

/// Rows [count, 2 * pairs], each [cos | sin], of consecutive positions (or any) of a one-axis encoding: the same bits
/// as rotation_row, faster.
void rotation_rows(const Rotation& rotation, Position first, std::int64_t count, float* rows);
void rotation_rows(const Rotation& rotation, std::span<const Position> positions, float* rows);

/// Fills the row that is added to the token with this id. Waves as above; a table's row is copied.
void hidden_row(const HiddenRows& hidden, Position id, std::span<float> row);
void hidden_row(const HiddenRows& hidden, Position id, std::span<double> row);

}  // namespace locus
