// SPDX-License-Identifier: Apache-2.0
// Seeded normal weights for learned schemes that were given none: the same numbers on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "locus/value.h"

namespace locus {

/// A tensor of independent normal values with mean 0 and the given deviation.
Tensor normal_weights(std::vector<std::int64_t> shape, std::int64_t seed, double deviation);

/// The tensor argument `name` after checking its shape (-1 matches any extent), or seeded weights where it is absent
/// and the shape is fully known. Uses the arguments `seed` and `deviation`.
Tensor weights_or_normal(std::string_view owner, const Arguments& arguments, std::string_view name,
                         const std::vector<std::int64_t>& shape, std::int64_t stream = 0);

/// The parameters `seed` and `deviation` that such schemes share.
Parameter seed_parameter();
Parameter deviation_parameter();

}  // namespace locus
