// SPDX-License-Identifier: Apache-2.0
// Computes the factor that an encoding gives each token and pair, in its own or in coarser arithmetic.
#pragma once

#include <vector>

#include "doctor/diagnose/turning.h"
#include "locus/encoding.h"

namespace locus::doctor {

/// Returns the rows of a rotation with its profile. `ids` are [axes, batch, tokens], `rows` tokens in all.
std::vector<Complex> rows_of(const Rotation& rotation, Role role, const PositionIds& ids, std::int64_t rows);

/// Angles computed in a 16-bit type by code that casts too early.
enum class EarlyCast : std::uint8_t { frequencies, positions, angles };
std::vector<Complex> cast_turns(const std::vector<double>& w, const std::vector<Position>& positions, ElementType type,
                                EarlyCast cast);

}  // namespace locus::doctor
