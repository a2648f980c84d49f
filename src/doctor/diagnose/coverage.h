// SPDX-License-Identifier: Apache-2.0
// Everything must be explained: tokens, heads and coordinates that were treated differently from the rest, by name.
#pragma once

#include <vector>

#include "doctor/diagnose/judgement.h"

namespace locus::doctor {

/// What the vectors show before any angle is looked at: zeros, vectors made of others, vectors made of none.
std::vector<Verdict> judge_cells(const RotationDump& dump, const Cells& cells);

/// Vectors (row * heads + head) that carry the magnitude once more or once less than the others.
Verdict judge_rescaled(const RotationDump& dump, const std::vector<std::int64_t>& cells);

/// Coordinates that are zero throughout, or whose pairs do not keep their length; pairs with such a coordinate are
/// taken out of the measurement.
std::vector<Verdict> judge_coordinates(const RotationDump& dump, Turning& turning);

/// Heads that turn differently from the rest.
std::vector<Verdict> judge_odd_heads(const RotationDump& dump, const Turning& turning,
                                     const std::vector<std::int64_t>& heads);

/// Tokens and pairs that the candidate leaves over.
std::vector<Verdict> judge_exceptions(const Turning& turning, const Candidate& candidate, std::int64_t tokens);

/// Every element against the candidate: vectors that only some heads of some tokens have wrong.
std::vector<Verdict> audit(const RotationDump& dump, const Turning& turning, const Candidate& candidate);

/// Whether a verdict of these says that something could not be named.
bool unexplained(const std::vector<Verdict>& verdicts);

}  // namespace locus::doctor
