// SPDX-License-Identifier: Apache-2.0
// The float32 arithmetic by which other engines make cos and sin. A model trained or served there saw these numbers.
#pragma once

#include <span>

#include "locus/site.h"
#include "positions/place.h"

namespace locus {

/// Fills cos and sin (each `rotation.pairs()` long) of a token as the engine of `rotation.profile` does. The profile
/// must not be `exact`, and the token must be placed.
void engine_row(const Rotation& rotation, const Place& place, std::span<float> cos, std::span<float> sin);

/// Rounds to bfloat16 or float16, to nearest even; float32 stays.
void round_to(ElementType type, std::span<float> values);

}  // namespace locus
