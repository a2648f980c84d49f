// SPDX-License-Identifier: Apache-2.0
// Everything must be explained: tokens, heads and coordinates that were treated differently from the rest, by name.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "doctor/diagnose/judgement.h"

namespace locus::doctor {

/// A verdict about vectors (row * heads + head), told as heads where they are whole ones, as tokens otherwise.
Verdict told(const RotationDump& dump, const std::set<std::int64_t>& cells, const std::string& tokens_name,
             const std::string& heads_name, const std::string& what, double confidence);

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

/// Every number of `after` against the candidate: vectors that only some heads of some tokens have wrong, and vectors
/// of which single coordinates are.
std::vector<Verdict> audit(const RotationDump& dump, const Turning& turning, const Candidate& candidate);

/// Whether a verdict of these says that something could not be named.
bool unexplained(const std::vector<Verdict>& verdicts);

}  // namespace locus::doctor
