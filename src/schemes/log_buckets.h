// SPDX-License-Identifier: Apache-2.0
// DeBERTa's log buckets of the offset query - key, shared by its bias and its relative keys.
#pragma once

#include <algorithm>
#include <cmath>

#include "locus/double_double.h"
#include "locus/site.h"

namespace locus {

// ceil of ln(distance/mid) / ln((furthest - 1)/mid) (mid - 1).
inline std::int64_t log_steps(std::int64_t distance, std::int64_t mid, std::int64_t furthest, bool single) {
  if (single) {
    const float part = std::log(static_cast<float>(distance) / static_cast<float>(mid)) /
                       std::log(static_cast<float>(static_cast<double>(furthest - 1) / static_cast<double>(mid)));
    return static_cast<std::int64_t>(std::ceil(part * static_cast<float>(mid - 1)));
  }
  const DoubleDouble middle(static_cast<double>(mid));
  const DoubleDouble steps = log(DoubleDouble(static_cast<double>(distance)) / middle) /
                             log(DoubleDouble(static_cast<double>(furthest - 1)) / middle) *
                             DoubleDouble(static_cast<double>(mid - 1));
  const DoubleDouble nearest = floor(steps + 0.5);
  const DoubleDouble off = steps - nearest;
  const bool whole = std::fabs(off.hi) < 1e-20 * std::max(1.0, std::fabs(steps.hi));
  return static_cast<std::int64_t>(whole ? nearest.hi : ceil(steps).hi);
}

/// With mid = bucket_size / 2: |r| <= mid: r; beyond: sign(r) (mid + ceil(ln(|r|/mid) / ln((furthest - 1)/mid) (mid -
/// 1))); then + bucket_size, clamped into the 2 bucket_size rows. `single`: with float32 logarithms, as transformers.
inline RelativeKeys::Index log_bucket_index(std::int64_t bucket_size, std::int64_t furthest, bool single) {
  return [=](Position query, Position key) {
    const std::int64_t offset = query - key;
    const std::int64_t distance = offset < 0 ? -offset : offset;
    const std::int64_t mid = bucket_size / 2;
    std::int64_t bucket = offset;
    if (distance > mid) {
      const std::int64_t steps = mid + log_steps(distance, mid, furthest, single);
      bucket = offset < 0 ? -steps : steps;
    }
    return std::clamp(bucket + bucket_size, std::int64_t{0}, 2 * bucket_size - 1);
  };
}

}  // namespace locus
