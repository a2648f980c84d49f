// SPDX-License-Identifier: Apache-2.0
// Recognizes T5's buckets: compares the offsets at which a bias changes with the edges of known buckets.
#pragma once

#include <string>
#include <vector>

#include "doctor/diagnose/bias_shape.h"

namespace locus::doctor {

struct BucketForm {
  std::int64_t num_buckets = 0;
  std::int64_t max_distance = 0;
  bool bidirectional = false;
  friend bool operator==(const BucketForm&, const BucketForm&) = default;
};

/// Returns the distances into the past (0, 1, ...) at which some head's value changes. The first is 0.
std::vector<std::int64_t> stretch_starts(const BiasShape& shape);

/// True if values change exactly at the edges of these buckets, on both sides of the query.
bool changes_at_edges_of(const BiasShape& shape, const BucketForm& form);

/// Returns all common bucket forms that fit: counts that are powers of two or 20, common distances; T5's own (32, 128)
/// first.
std::vector<BucketForm> fitting_buckets(const BiasShape& shape);

std::string text_of(const BucketForm& form);

}  // namespace locus::doctor
