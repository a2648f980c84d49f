// SPDX-License-Identifier: Apache-2.0
// Every attention score of a text, by layer and head, and the part of it that content alone would give.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "probe/model.h"

namespace locus::probe {

/// Arrays are [layers, heads, queries, keys], both in the order of the text; 0 where a query does not see a key.
struct ScoreMap {
  std::int64_t layers = 0, heads = 0, tokens = 0;
  std::vector<float> probabilities = {};  ///< after the softmax, as the model computed them
  std::vector<float> scores = {};         ///< before the softmax; empty if the encoding is polar or gated
  /// The scores of the same queries and keys without positions, or empty like `scores`; the rest of a score is the part of the positions. An
  /// encoding of the site hidden is in the vectors: its scores have no such rest.
  std::vector<float> content = {};
};

/// Reads `tokens` with `encoding`.
/// Error: no tokens, a text longer than the encoding's positions.
/// Cost: O(tokens^2) memory per head.
ScoreMap measure_scores(const Model& model, const Encoding& encoding, std::span<const Token> tokens,
                        const Placement& placement = {});

}  // namespace locus::probe
