// SPDX-License-Identifier: Apache-2.0
// Keys rotated with the queries' number of heads: the kernel takes vector n for token n / heads and counts wrongly.
#pragma once

#include <optional>

#include "doctor/diagnose/turning.h"

namespace locus::doctor {

/// Needs the expected encoding: every head of every token gets its position by itself, and these must be the ones that
/// another number of heads leads to. Absent where they are not.
std::optional<Verdict> judge_miscounted_heads(const RotationDump& dump, const Expectation& expected,
                                              const std::vector<Turning>& slices, double floor);

}  // namespace locus::doctor
