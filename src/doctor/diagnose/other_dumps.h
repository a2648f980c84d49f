// SPDX-License-Identifier: Apache-2.0
// Dumps that are not simply before and after: unchanged, rotated on both sides, heads exchanged, no rotation at all.
#pragma once

#include <vector>

#include "locus/doctor/diagnose.h"

namespace locus::doctor {

/// The dump with the rotation of `before` undone, as `encoding` makes it at `ids`.
RotationDump unrotated(const RotationDump& dump, const Encoding& encoding, Role role, const PositionIds& ids);

/// Head map[h] of `before` in place h.
RotationDump with_heads(const RotationDump& dump, const std::vector<std::int64_t>& map);

std::vector<Verdict> judge_unchanged(const RotationDump& dump, const Expectation& expected);
Verdict judge_heads(const std::vector<std::int64_t>& map);
Verdict judge_no_rotation(double residual, double noise);

}  // namespace locus::doctor
