// SPDX-License-Identifier: Apache-2.0
#include "schemes/log_buckets.h"

#include <algorithm>
#include <cmath>

#include "locus/double_double.h"

namespace locus {
namespace {

// ceil of ln(distance/mid) / ln((max_position - 1)/mid) (mid - 1).
std::int64_t log_steps(std::int64_t distance, std::int64_t mid, std::int64_t max_position, bool single) {
  if (single) {
    const float part = std::log(static_cast<float>(distance) / static_cast<float>(mid)) /
                       std::log(static_cast<float>(static_cast<double>(max_position - 1) / static_cast<double>(mid)));
    return static_cast<std::int64_t>(std::ceil(part * static_cast<float>(mid - 1)));
  }
  const DoubleDouble middle(static_cast<double>(mid));
  const DoubleDouble steps = log(DoubleDouble(static_cast<double>(distance)) / middle) /
                             log(DoubleDouble(static_cast<double>(max_position - 1)) / middle) *
                             DoubleDouble(static_cast<double>(mid - 1));
  const DoubleDouble nearest = floor(steps + 0.5);
  const DoubleDouble off = steps - nearest;
  const bool whole = std::fabs(off.hi) < 1e-20 * std::max(1.0, std::fabs(steps.hi));
  return static_cast<std::int64_t>(whole ? nearest.hi : ceil(steps).hi);
}

}  // namespace

RelativeKeys::Index log_bucket_index(std::int64_t bucket_size, std::int64_t furthest, bool single) {
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
