// SPDX-License-Identifier: Apache-2.0
// The float32 arithmetic of other engines for cos and sin. A model trained or served there saw these numbers.
#pragma once

#include <span>

#include "locus/site.h"
#include "positions/coordinates.h"

namespace locus {

/// Fills cos and sin (each `rotation.pairs()` long) of a token as the engine of `rotation.profile` does. Range: a
/// profile other than `exact`, defined coordinates.
void engine_row(const Rotation& rotation, const Coordinates& coordinates, std::span<float> cos, std::span<float> sin);

/// Rounds to bfloat16 or float16, to nearest even; float32 is unchanged.
void round_to(ElementType type, std::span<float> values);

}  // namespace locus
