// SPDX-License-Identifier: Apache-2.0
// Seeded normal weights for learned schemes without given ones: the same numbers on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "locus/value.h"

namespace locus {

/// Returns a tensor of independent normal values with mean 0 and the given standard deviation.
Tensor normal_weights(std::vector<std::int64_t> shape, std::int64_t seed, double deviation);

/// Returns the tensor argument `name`, or seeded weights if it is absent. Uses the arguments `seed` and `deviation`.
/// Error: a tensor of another shape (-1 matches any extent), more than 2^32 values.
Tensor weights_or_normal(std::string_view owner, const Arguments& arguments, std::string_view name,
                         const std::vector<std::int64_t>& shape, std::int64_t stream = 0);

/// The parameters `seed` and `deviation`, which these schemes share.
Parameter seed_parameter();
Parameter deviation_parameter();

}  // namespace locus
