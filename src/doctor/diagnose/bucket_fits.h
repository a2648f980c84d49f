// SPDX-License-Identifier: Apache-2.0
// T5's buckets: where a bias that depends on the offset changes, against where buckets of known sizes start.
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

/// Distances to the past (0, 1, ...) at which the value of some head changes; the first is 0.
std::vector<std::int64_t> stretch_starts(const BiasShape& shape);

/// Whether values change exactly where the buckets of this form do, on both sides of the query.
bool changes_like(const BiasShape& shape, const BucketForm& form);

/// All forms in use that do: powers of two and 20 as counts, common distances. T5's own (32, 128) first.
std::vector<BucketForm> fitting_buckets(const BiasShape& shape);

std::string text_of(const BucketForm& form);

}  // namespace locus::doctor
