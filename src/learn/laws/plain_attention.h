// SPDX-License-Identifier: Apache-2.0
// Attention as lesson 0 defines it, and the ways in which learners get it wrong.
#pragma once

#include "learn/value.h"

namespace locus::learn {

/// What may be wrong with it.
struct AttentionForm {
  double scale = 1;
  bool over_queries = false;  ///< the softmax runs down the columns
  bool softmax = true;        ///< false: the scores themselves are the weights
  bool causal = false;
};

/// softmax(query key^T) value of [queries, dim], [keys, dim] and [keys, width].
Array plain_attention(const Array& query, const Array& key, const Array& value, const AttentionForm& form = {});

/// x[order].
Array permuted(const Array& x, const std::vector<std::int64_t>& order);

}  // namespace locus::learn
