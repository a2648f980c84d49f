// SPDX-License-Identifier: Apache-2.0
// Measures the properties that an encoding claims, and checks worked examples whose numbers are known by hand.
#pragma once

#include <vector>

#include "locus/doctor/check.h"
#include "locus/doctor/subject.h"

namespace locus {

/// Returns one check per claim, named after it ("relative: ..."). For a claim that is not made, it checks the
/// difference that theory predicts ("not relative: ..."). A claim that cannot be checked at the subject's site gives
/// a failed check. Bounds follow from double arithmetic and the subject's entry_error and angle_error.
std::vector<Check> verify_properties(const Subject& subject);
std::vector<Check> verify_properties(const Encoding& encoding);

/// Checks the worked examples: three tokens, dot products of sinusoids, one rotated pair, slopes, buckets,
/// interpolation, ids.
std::vector<Check> verify_worked_examples();

}  // namespace locus
