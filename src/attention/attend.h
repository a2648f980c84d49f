// SPDX-License-Identifier: Apache-2.0
// The code paths that attend() chooses from.
#pragma once

#include <limits>

#include "attention/problem.h"

namespace locus {

/// The score of a masked key, and the log-sum-exp of a row that sees no key.
inline constexpr float masked_score = -std::numeric_limits<float>::infinity();

/// Blocks of queries against blocks of packed keys.
AttentionWork attend_in_tiles(const Problem& problem);

/// One query per document: reads stored keys and values once, without packing them.
bool is_decode(const Problem& problem);
AttentionWork attend_one_query(const Problem& problem);

/// Row by row in double: the float64 path.
void attend_in_double(const Problem& problem);
/// Stores the probabilities of rows_wanted, computed in double.
void store_probabilities(const Problem& problem);

}  // namespace locus
