// SPDX-License-Identifier: Apache-2.0
// Worked examples, whose numbers are known by hand. Each takes a subject, so that tests can show that a wrong one
// fails; the makers return the right ones.
#pragma once

#include "doctor/verify/samples.h"
#include "locus/positions.h"

namespace locus::doctor {

using Checks = std::vector<Check>;

// ---- three_tokens.cpp: "I work he" and "he work I"
Checks three_tokens_without_positions(Subject subject);
/// For `breaking` of the 6 permutations, the outputs are no permutation of each other.
Checks three_tokens_with_positions(Subject subject, int breaking);
Checks three_tokens();

// ---- worked_sinusoids.cpp: d = 4, frequencies 1 and 1/100
Checks sinusoid_dot_products(const Subject& subject);
Checks sinusoid_aliases(const Subject& subject);
Checks worked_sinusoids();

// ---- worked_rotations.cpp
Checks one_pair_at_seven_and_four(const Subject& subject);  ///< head_dim 2
Checks rotations_compose(const Subject& subject);           ///< R_p^T R_j = R_(j-p)
Checks interpolation_by_four(const Subject& subject);       ///< head_dim 2, frequency 1/4
Checks worked_rotations();

// ---- worked_scores.cpp
Checks slopes_halve(const Subject& subject);           ///< ALiBi with 8 heads
Checks quarter_slope_of_five(const Subject& subject);  ///< its head 1
Checks tenth_per_step(const Subject& subject);         ///< -0.1 |i - j|
using Index = std::function<std::int64_t(Position query, Position key)>;
Checks buckets_rise_and_saturate(const Index& bucket);  ///< T5 with 32 buckets up to distance 128
Checks offsets_are_query_minus_key(const Index& offset);
Checks worked_scores();

// ---- worked_positions.cpp
Checks decode_goes_on(const std::function<PositionIds(std::int64_t prefix, std::int64_t tokens)>& decode);
Checks pictures_go_on();
/// A learned table of 8 rows: `add` throws Error for ids beyond it.
Checks rows_beyond_the_table_are_refused(const std::function<void(Position id)>& add);
Checks worked_positions();

}  // namespace locus::doctor
