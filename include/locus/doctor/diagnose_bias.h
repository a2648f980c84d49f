// SPDX-License-Identifier: Apache-2.0
// Infers what a matrix of score biases is: a form of ALiBi, buckets, a mask, or something else.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "locus/doctor/diagnose.h"

namespace locus {

/// The numbers added to the scores, [heads, queries, keys]. Masked entries are -infinity or very negative.
struct BiasDump {
  std::int64_t heads = 0;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::vector<double> bias = {};
  /// The logarithms of the tokens' gates, [heads, keys], for an encoding whose tokens bring one number (forget_gate).
  std::vector<double> gates = {};
  /// For an encoding whose gates count over queries and keys (cope): both as attention multiplies them, before the
  /// softmax scale, [heads, queries, head_dim] and [key_heads, keys, head_dim]; `bias` is what the scores gained.
  std::int64_t key_heads = 0;
  std::vector<double> query_vectors = {}, key_vectors = {};
};

struct BiasDiagnosis {
  ElementType storage = ElementType::float32;
  std::int64_t masked = 0;     ///< number of masked entries
  bool causal_mask = false;    ///< exactly the keys after the query are masked, with the last query at the last key
  bool toeplitz = false;       ///< unmasked entries depend on key - query only
  bool key_only = false;       ///< entries depend on the key only, up to rounding
  std::vector<double> slopes;  ///< per head, if the bias is linear in the distance or in the key; positive decays
  std::vector<std::int64_t> bucket_starts;  ///< past distances at which a run of equal values starts; empty: none
  std::vector<Verdict> verdicts;            ///< best first; alternatives as in Diagnosis

  /// Returns whether the likeliest verdict is that nothing is wrong. Meaningful only with an expected encoding.
  bool as_expected() const { return !verdicts.empty() && verdicts.front().name == "as_expected"; }
};

/// Infers the bias and compares it with `expected`, if given. The last query is at the last key.
/// Error: arrays that do not match the sizes, NaN, an encoding that adds no such number or has other heads, gates or
/// vectors without an encoding that takes them, such an encoding without them.
BiasDiagnosis diagnose_bias(const BiasDump& dump, const std::optional<Encoding>& expected = {});

}  // namespace locus
