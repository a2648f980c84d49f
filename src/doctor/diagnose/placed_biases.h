// SPDX-License-Identifier: Apache-2.0
// The expected biases, and the same numbers in the wrong place, against a dump.
#pragma once

#include <string>
#include <vector>

#include "doctor/diagnose/bias_shape.h"
#include "locus/encoding.h"

namespace locus::doctor {

/// The expected numbers, [heads, queries, keys], with the first query at `first_query`.
std::vector<double> expected_bias(const Encoding& encoding, const BiasShape& shape, Position first_query);

/// Verdicts that explain every visible entry, likeliest first: as_expected, or the expected numbers in the wrong place.
/// Those that the noise of one dump cannot distinguish share the confidence. Empty: none. `shape` learns the noise of a
/// dump of one query.
std::vector<Verdict> judge_places(BiasShape& shape, const Encoding& encoding);

}  // namespace locus::doctor
