// SPDX-License-Identifier: Apache-2.0
// Dumps that are not simply before and after: unchanged, rotated on both sides, no rotation at all.
#pragma once

#include <vector>

#include "doctor/diagnose/cells.h"

namespace locus::doctor {

/// The dump with the rotation of `before` undone, as `encoding` makes it at `ids`.
RotationDump unrotated(const RotationDump& dump, const Encoding& encoding, Role role, const PositionIds& ids);

/// Whether no vector that can be used differs by more than its storage explains.
bool unchanged(const RotationDump& dump, const Cells& cells, double floor);

std::vector<Verdict> judge_unchanged(const RotationDump& dump, const Expectation& expected);
Verdict judge_no_rotation(double residual, double noise);

}  // namespace locus::doctor
