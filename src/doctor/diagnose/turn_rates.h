// SPDX-License-Identifier: Apache-2.0
// Measures frequencies: how far each pair turns from one token to the next, without knowledge of the rule.
#pragma once

#include <optional>
#include <vector>

#include "doctor/diagnose/turning.h"

namespace locus::doctor {

/// Returns the standard deviation of an angle of z: the noise of the storage and of a table rounded to the same type.
double angle_sigma(const Turning& turning, std::int64_t row, std::int64_t pair, double unit);

/// Reduces an angle to [-pi, pi]. Range: angles below 1e9.
double wrapped(double angle);

struct TurnRates {
  std::vector<double> w = {};      ///< radians per position, one per pair, signed
  std::vector<double> sigma = {};  ///< standard deviation of each
  std::int64_t agreeing = 0;       ///< steps between neighbours that agree with these rates
  std::int64_t steps = 0;          ///< all steps
};

/// Derives the rates from the steps between neighbouring tokens that most steps agree with. `ids` give the length of
/// each step; without them the most common step counts as 1. Steps of more than 3 positions are not used, because the
/// fastest pair turns by more than half a turn. `far` is the largest position to expect; float32 angles make steps
/// differ there. Absent if nothing turns.
std::optional<TurnRates> turn_rates(const Turning& turning, std::int64_t tokens, double unit,
                                    const std::optional<std::vector<Position>>& ids, double far);

}  // namespace locus::doctor
