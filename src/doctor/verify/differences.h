// SPDX-License-Identifier: Apache-2.0
// Where a scheme makes no claim: the results must differ, and by as much as the reference predicts in double.
#pragma once

#include <optional>

#include "doctor/verify/token_paths.h"
#include "doctor/verify/worst_checks.h"

namespace locus::doctor {

/// A result with what theory says about it.
struct Predicted {
  const Encoding& encoding;
  const Sample::Exact& exact;
  const PathResult& result;
};

/// Holds the result against its prediction, and its distance from `other` against the predicted distance where that is
/// more than the errors of the two. `name` reads "A differs from B"; `prediction` reads "A is what theory predicts".
void expect_difference(WorstChecks& worst, const Sample& sample, ElementType type, const std::string& name,
                       const std::string& prediction, const Predicted& one, const Predicted& other);

/// The first length at which the encoding's numbers are not those of length 1, if there is one.
std::optional<std::int64_t> first_change(const Encoding& encoding);

/// Decoding where numbers depend on the length: each step under the table of its length, with raw keys; keys left under
/// the table of their time; the refusal of a cache to mix; keys turned to the new table.
void verify_growing(WorstChecks& worst, const Sample& sample, ElementType type);

/// Full attention, decoded: all but the last token miss what comes after them.
void verify_bidirectional(WorstChecks& worst, const Sample& sample, ElementType type, const Sample::Exact& causal);

}  // namespace locus::doctor
