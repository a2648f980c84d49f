// SPDX-License-Identifier: Apache-2.0
// Relative keys that are projections of a sinusoid of the distance, with learned biases u and v:
//   score = (q + u) . k + (q + v) . (W_r R_n),  n = query - key.
// Transformer-XL and Conformer differ only in how R_n arranges sines and cosines.
#pragma once

#include "locus/registry.h"

namespace locus {

/// The arrangement is that of the scheme `sinusoidal`. `owner` starts error messages.
SchemeResult projected_sinusoid(std::string_view owner, const Arguments& arguments, Claims claims,
                                std::string_view arrangement);
std::vector<Parameter> projected_sinusoid_parameters();

}  // namespace locus
