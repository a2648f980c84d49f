// SPDX-License-Identifier: Apache-2.0
// The ways through attention that attend() chooses from.
#pragma once

#include <limits>

#include "attention/problem.h"

namespace locus {

/// The score of a key that is not seen, and the log-sum-exp of a row that sees none.
inline constexpr float masked_score = -std::numeric_limits<float>::infinity();

/// Blocks of queries against blocks of packed keys.
AttentionWork attend_in_tiles(const Problem& problem);

/// One query per stretch: keys and values are read once, where they lie.
bool is_decode(const Problem& problem);
AttentionWork attend_one_query(const Problem& problem);

/// Row by row in double: the float64 path.
void attend_in_double(const Problem& problem);
/// The probabilities that the call wants, from double arithmetic.
void store_probabilities(const Problem& problem);

}  // namespace locus
