// SPDX-License-Identifier: Apache-2.0
// Checks a dump and an expectation, and derives the positions.
#pragma once

#include <vector>

#include "locus/doctor/diagnose.h"

namespace locus::doctor {

/// Error: shapes that do not match, or a number that is not finite.
void check_dump(const RotationDump& dump, const Expectation& expected);

/// Returns the given positions, or 0, 1, 2, ...
PositionIds ids_of(const RotationDump& dump, const Expectation& expected);

/// Returns the positions of the first axis, one for each row of each batch.
std::vector<Position> per_row(const PositionIds& ids, std::int64_t batch);

}  // namespace locus::doctor
