// SPDX-License-Identifier: Apache-2.0
// Checks claims that a scheme does not make: results must differ, by the amount that the reference predicts in double.
#pragma once

#include <optional>

#include "doctor/verify/token_paths.h"
#include "doctor/verify/worst_checks.h"

namespace locus::doctor {

/// A result and its prediction by theory.
struct Predicted {
  const Encoding& encoding;
  const Sample::Exact& exact;
  const PathResult& result;
};

/// The names of two checks.
struct DifferenceNames {
  std::string difference;  ///< "A differs from B"
  std::string prediction;  ///< "A is what theory predicts"
};

/// Compares the result with its prediction. Also compares its distance from `other` with the predicted distance, if
/// that distance exceeds the errors of both.
void expect_difference(WorstChecks& worst, const Sample& sample, ElementType type, const DifferenceNames& names,
                       const Predicted& one, const Predicted& other);

/// Returns the first length at which the encoding's numbers differ from those of length 1, if any.
std::optional<std::int64_t> first_change(const Encoding& encoding);

/// Verifies decoding with tables that depend on the length: each step with the table of its length and raw keys; keys
/// that keep the table of their own step; a cache that refuses to mix tables; keys rotated to the new table.
void verify_growing(WorstChecks& worst, const Sample& sample, ElementType type);

/// Decodes full attention: every token but the last misses the keys after it.
void verify_bidirectional(WorstChecks& worst, const Sample& sample, ElementType type, const Sample::Exact& causal);

}  // namespace locus::doctor
