// SPDX-License-Identifier: Apache-2.0
// Recognizes magnitudes that depend on the position, as xPos has them.
#pragma once

#include <optional>

#include "doctor/diagnose/turning.h"

namespace locus::doctor {

/// Fits xPos with the base and positions of `turns`, which explains the angles only. Absent if the scale zeta_i^((p -
/// centre) / scale_base) does not explain the magnitudes.
std::optional<Explanation> fit_xpos(const Turning& turning, const Explanation& turns, double unit);

}  // namespace locus::doctor
