// SPDX-License-Identifier: Apache-2.0
// Recognizes keys rotated with the number of query heads: the kernel computes the token as n / heads with the wrong
// number.
#pragma once

#include <optional>

#include "doctor/diagnose/turning.h"

namespace locus::doctor {

/// Solves the position of each head of each token and compares it with what another number of heads would give. Needs
/// the expected encoding. Absent if no number of heads explains the positions.
std::optional<Verdict> judge_miscounted_heads(const RotationDump& dump, const Expectation& expected,
                                              const std::vector<Turning>& slices, double floor);

}  // namespace locus::doctor
