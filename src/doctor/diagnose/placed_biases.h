// SPDX-License-Identifier: Apache-2.0
// Compares a dump with the expected biases, and with the same numbers in the wrong place.
#pragma once

#include <string>
#include <vector>

#include "doctor/diagnose/bias_shape.h"
#include "locus/encoding.h"

namespace locus::doctor {

/// Returns the expected numbers, [heads, queries, keys], with the first query at `first_query`.
std::vector<double> expected_bias(const Encoding& encoding, const BiasShape& shape, Position first_query);

/// Returns the verdicts that explain every visible entry, most likely first: as_expected, or the expected numbers in
/// the wrong place. Verdicts that the noise of one dump does not distinguish share the confidence. Empty: none. Sets
/// the noise of `shape` for a dump of one query.
std::vector<Verdict> judge_places(BiasShape& shape, const Encoding& encoding);

}  // namespace locus::doctor
