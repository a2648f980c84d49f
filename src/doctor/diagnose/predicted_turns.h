// SPDX-License-Identifier: Apache-2.0
// The factors of every token and pair that an encoding gives, in its own or in coarser arithmetic.
#pragma once

#include <vector>

#include "doctor/diagnose/turning.h"
#include "locus/encoding.h"

namespace locus::doctor {

/// The rows of a rotation as its profile has them; ids are [axes, batch, tokens] for all `rows` tokens.
std::vector<Complex> rows_of(const Rotation& rotation, Role role, const PositionIds& ids, std::int64_t rows);

/// Angles in the arithmetic of 16-bit types, as code that casts too early computes them.
enum class EarlyCast : std::uint8_t { frequencies, positions, angles };
std::vector<Complex> cast_turns(const std::vector<double>& w, const std::vector<Position>& positions, ElementType type,
                                EarlyCast cast);

}  // namespace locus::doctor
