// SPDX-License-Identifier: Apache-2.0
// What papers claim about behaviour beyond the training length, beside what this run saw.
#pragma once

#include "run/json.h"
#include "run/numbers.h"

namespace locus::lab {

/// Of what a scheme had learned, over always giving the most frequent answer, the share that it loses between the
/// training length and the longest one: (in range - longest) / (in range - majority), seed by seed. 0: flat; 1: all of
/// it.
BySeed share_lost(const Numbers& numbers, const Json& task, const std::string& line);

/// `claims` of docs/results-format.md. Each is decided by a rule over 95 % intervals, which `seen` states; where the
/// interval does not decide, where there is one seed, or where a scheme is missing or not learned: "cannot tell".
Json make_claims(const Numbers& numbers, const Json& header);

}  // namespace locus::lab
