// SPDX-License-Identifier: Apache-2.0
// Dumps that are not simply before and after: unchanged, already rotated in `before`, not a rotation at all.
#pragma once

#include <vector>

#include "doctor/diagnose/cells.h"

namespace locus::doctor {

/// Returns the dump with the rotation of `before` undone, given that `encoding` made it at `ids`.
RotationDump unrotated(const RotationDump& dump, const Encoding& encoding, Role role, const PositionIds& ids);

/// True if no usable vector differs by more than the rounding of its storage type.
bool unchanged(const RotationDump& dump, const Cells& cells, double floor);

std::vector<Verdict> judge_unchanged(const RotationDump& dump, const Expectation& expected);
Verdict judge_no_rotation(double residual, double noise);

}  // namespace locus::doctor
