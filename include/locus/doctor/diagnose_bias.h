// SPDX-License-Identifier: Apache-2.0
// What a matrix of score biases really is: ALiBi and in which form, buckets, a mask mixed in, or something else.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "locus/doctor/diagnose.h"

namespace locus {

/// Numbers that were added to the scores, [heads, queries, keys]. Masked entries are -infinity or very negative.
struct BiasDump {
  std::int64_t heads = 0;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::vector<double> bias = {};
};

struct BiasDiagnosis {
  ElementType storage = ElementType::float32;
  std::int64_t masked = 0;     ///< entries of a mask
  bool causal_mask = false;    ///< exactly the keys after the query are masked, the last query at the last key
  bool toeplitz = false;       ///< depends on key - query only, where not masked
  bool key_only = false;       ///< depends on the key only, up to rounding
  std::vector<double> slopes;  ///< per head, where the bias is linear in the distance or in the key; positive decays
  std::vector<std::int64_t> bucket_starts;  ///< distances to the past at which a constant stretch starts; empty: none
  std::vector<Verdict> verdicts;            ///< best first; alternatives as in Diagnosis

  /// Whether the likeliest reading finds nothing wrong; meaningful with an expected encoding.
  bool as_expected() const { return !verdicts.empty() && verdicts.front().name == "as_expected"; }
};

/// Compares with `expected` where it is given (a scheme of the site score with as many heads); queries stand at the
/// last keys. Error for sizes that do not match and for NaN.
BiasDiagnosis diagnose_bias(const BiasDump& dump, const std::optional<Encoding>& expected = {});

}  // namespace locus
