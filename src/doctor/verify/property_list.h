// SPDX-License-Identifier: Apache-2.0
// The properties, one function each. properties.cpp maps claims to properties.
//
// A check's name starts with the claim, or with "not " and the claim if it is not made and a difference is expected.
#pragma once

#include "doctor/verify/samples.h"

namespace locus::doctor {

using Checks = std::vector<Check>;

// ---- equivariance.cpp: effects on the output of attention
Checks ids_decide(const Subject& subject);           ///< permutes tokens and ids together: outputs follow
Checks order_is_seen(const Subject& subject);        ///< permutes tokens only: outputs follow only without positions
Checks outputs_keep_shifts(const Subject& subject);  ///< relative
Checks outputs_show_shifts(const Subject& subject);  ///< not relative
Checks outputs_follow_reversal(const Subject& subject);  ///< distance_only

// ---- rotation_properties.cpp
Checks dot_products_keep_shifts(const Subject& subject);
Checks rotation_keeps_norms(const Subject& subject);
Checks rotation_changes_norms(const Subject& subject);

// ---- score_properties.cpp: biases and relative keys
Checks scores_keep_shifts(const Subject& subject);
Checks scores_show_shifts(const Subject& subject);
Checks bias_is_linear(const Subject& subject);
Checks bias_never_grows(const Subject& subject);
Checks bias_is_the_same_both_ways(const Subject& subject);
Checks bias_differs_both_ways(const Subject& subject);
Checks bias_leaves_the_future(const Subject& subject);

// ---- sinusoid_properties.cpp
Checks waves_start_at_zero_and_one(const Subject& subject);
Checks rows_shift_by_one_map(const Subject& subject);

// ---- position_properties.cpp: which ids are valid, and what a position's numbers depend on
Checks numbers_keep_at_any_length(const Subject& subject);
Checks numbers_change_with_length(const Subject& subject);
Checks rows_keep_as_tokens_follow(const Subject& subject);  ///< rows from neighbours only
Checks negative_ids_are_served(const Subject& subject);
Checks negative_ids_are_refused(const Subject& subject);
Checks last_id_is_served(const Subject& subject);
Checks ids_beyond_are_refused(const Subject& subject);
Checks weights_matter(const Subject& subject);
Checks nothing_is_done(const Subject& subject);

}  // namespace locus::doctor
