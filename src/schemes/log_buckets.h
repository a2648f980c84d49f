// SPDX-License-Identifier: Apache-2.0
// DeBERTa's log buckets of the offset query - key, shared by its bias and its relative keys.
#pragma once

#include "locus/site.h"

namespace locus {

/// With mid = bucket_size / 2: |r| <= mid: r; beyond: sign(r) (mid + ceil(ln(|r|/mid) / ln((furthest - 1)/mid) (mid -
/// 1))); then + bucket_size, clamped into the 2 bucket_size rows. `single`: with float32 logarithms, as transformers.
RelativeKeys::Index log_bucket_index(std::int64_t bucket_size, std::int64_t furthest, bool single);

}  // namespace locus
