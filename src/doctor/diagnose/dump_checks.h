// SPDX-License-Identifier: Apache-2.0
// What a dump and an expectation must be, and the positions that they imply.
#pragma once

#include <vector>

#include "locus/doctor/diagnose.h"

namespace locus::doctor {

/// Error for what does not fit together or is not finite.
void check_dump(const RotationDump& dump, const Expectation& expected);

/// The positions given, or 0, 1, 2, ...
PositionIds ids_of(const RotationDump& dump, const Expectation& expected);

/// The first axis, a position for every row of every batch.
std::vector<Position> per_row(const PositionIds& ids, std::int64_t batch);

}  // namespace locus::doctor
