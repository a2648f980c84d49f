// SPDX-License-Identifier: Apache-2.0
// The laws of each exercise. Each function calls the learner's functions and throws BrokenLaw at the first law that does
// not hold, with the likely cause where a known mistake gives the same numbers.
#pragma once

#include "learn/solution.h"

namespace locus::learn {

void laws_of_attention(Solution& solution);
void laws_of_permutation(Solution& solution);
void laws_of_symmetry(Solution& solution);
void laws_of_sinusoidal(Solution& solution);
void laws_of_shift_matrix(Solution& solution);
void laws_of_picture(Solution& solution);
void laws_of_resized_table(Solution& solution);
void laws_of_rope_interleaved(Solution& solution);
void laws_of_rope_half(Solution& solution);
void laws_of_relative_score(Solution& solution);
void laws_of_partial_rope(Solution& solution);
void laws_of_alibi_slopes(Solution& solution);
void laws_of_alibi_bias(Solution& solution);
void laws_of_t5_buckets(Solution& solution);
void laws_of_position_ids(Solution& solution);
void laws_of_interpolation(Solution& solution);
void laws_of_cache_shift(Solution& solution);

}  // namespace locus::learn
