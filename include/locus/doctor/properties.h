// SPDX-License-Identifier: Apache-2.0
// The properties that an encoding must have by its claims, measured; and examples whose numbers are known by hand.
#pragma once

#include <vector>

#include "locus/doctor/check.h"
#include "locus/doctor/subject.h"

namespace locus {

/// A check for every claim, its name starting with the claim's ("relative: ..."), and, where a claim is not made, the
/// difference that theory predicts instead ("not relative: ..."). A claim that cannot be checked at the subject's site
/// is a check that fails. Bounds are those of double arithmetic and of the subject's own entry and angle errors.
std::vector<Check> verify_properties(const Subject& subject);
std::vector<Check> verify_properties(const Encoding& encoding);

/// The fixed examples: three tokens, dot products of sinusoids, one rotated pair, slopes, buckets, interpolation, ids.
std::vector<Check> verify_worked_examples();

}  // namespace locus
