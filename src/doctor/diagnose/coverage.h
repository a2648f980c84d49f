// SPDX-License-Identifier: Apache-2.0
// Coverage: names the tokens, heads and coordinates that were treated differently from the rest. A verdict must explain
// every number.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "doctor/diagnose/judgement.h"

namespace locus::doctor {

/// Makes a verdict about cells (row * heads + head). Names heads if whole heads are affected, otherwise tokens.
Verdict cells_verdict(const RotationDump& dump, const std::set<std::int64_t>& cells, const std::string& tokens_name,
                      const std::string& heads_name, const std::string& what, double confidence);

/// Judges what the vectors show before angles are measured: zeros, vectors computed from others, vectors from no known
/// source.
std::vector<Verdict> judge_cells(const RotationDump& dump, const Cells& cells);

/// Judges cells (row * heads + head) that have the magnitude once too often or once too few.
Verdict judge_rescaled(const RotationDump& dump, const std::vector<std::int64_t>& cells);

/// Finds coordinates that are always zero and pairs that change their length. Such pairs are excluded from the
/// measurement.
std::vector<Verdict> judge_coordinates(const RotationDump& dump, Turning& turning);

/// Names heads that turn differently from the rest.
std::vector<Verdict> judge_odd_heads(const RotationDump& dump, const Turning& turning,
                                     const std::vector<std::int64_t>& heads);

/// Names the tokens and pairs that the candidate does not explain.
std::vector<Verdict> judge_exceptions(const Turning& turning, const Candidate& candidate, std::int64_t tokens);

/// Compares every number of `after` with the candidate. Finds single cells and single coordinates that are wrong.
std::vector<Verdict> audit(const RotationDump& dump, const Turning& turning, const Candidate& candidate);

/// True if one of the verdicts reports something that has no name.
bool unexplained(const std::vector<Verdict>& verdicts);

}  // namespace locus::doctor
