// SPDX-License-Identifier: Apache-2.0
// What a hypothesis says the factors of every token and pair are, and how far that is from what was seen.
#pragma once

#include <functional>
#include <vector>

#include "doctor/diagnose/turning.h"
#include "locus/encoding.h"

namespace locus::doctor {

/// exp(i w p), per row and pair.
std::vector<Complex> turns_at(const std::vector<double>& w, const std::vector<Position>& positions);

/// The rows of an encoding as its profile has them; ids are [axes, batch, tokens] for all `rows` tokens.
std::vector<Complex> rows_of(const Encoding& encoding, Role role, const PositionIds& ids, std::int64_t rows);

/// Angles in the arithmetic of 16-bit types, as code that casts too early computes them.
enum class EarlyCast : std::uint8_t { frequencies, positions, angles };
std::vector<Complex> cast_turns(const std::vector<double>& w, const std::vector<Position>& positions, ElementType type,
                                EarlyCast cast);

/// RMS of the difference in direction over what storage alone explains: about 1 where the hypothesis is right.
double direction_misfit(const Turning& turning, const std::vector<Complex>& predicted, double unit);

/// The row and pair where it is worst, for evidence.
struct Worst {
  std::int64_t row = 0;
  std::int64_t pair = 0;
  double angle = 0;  ///< seen less predicted
};
Worst worst_direction(const Turning& turning, const std::vector<Complex>& predicted);

}  // namespace locus::doctor
