// SPDX-License-Identifier: Apache-2.0
// Magnitudes that change with the position, as xPos makes them.
#pragma once

#include <optional>

#include "doctor/diagnose/turning.h"

namespace locus::doctor {

/// xPos with the base and the positions of `turns`, which explains the angles alone; absent where its scale
/// zeta_i^((p - centre) / scale_base) does not explain the magnitudes.
std::optional<Explanation> fit_xpos(const Turning& turning, const Explanation& turns, double unit);

}  // namespace locus::doctor
