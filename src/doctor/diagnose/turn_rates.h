// SPDX-License-Identifier: Apache-2.0
// How far each pair turns from one token to the next: frequencies, before any rule is known.
#pragma once

#include <optional>
#include <vector>

#include "doctor/diagnose/turning.h"

namespace locus::doctor {

/// Angles of z carry the noise of the storage, and that of a table rounded to the same type.
double angle_sigma(const Turning& turning, std::int64_t row, std::int64_t pair, double unit);

/// The angle in [-pi, pi], for angles below 1e9.
double wrapped(double angle);

struct TurnRates {
  std::vector<double> w = {};      ///< radians per position, one per pair, signed
  std::vector<double> sigma = {};  ///< standard deviation of each
  std::int64_t agreeing = 0;       ///< steps between neighbours that turn like this
  std::int64_t steps = 0;          ///< of so many
};

/// From the steps between neighbouring tokens that most agree on. `ids` tell how long steps are; without them the
/// common step is taken for 1. Steps beyond 3 positions are not used: the fastest pair turns by more than half a turn.
/// `far` is how far out tokens may be: there float32 angles make steps differ. Absent where no step turns anything.
std::optional<TurnRates> turn_rates(const Turning& turning, std::int64_t tokens, double unit,
                                    const std::optional<std::vector<Position>>& ids, double far);

}  // namespace locus::doctor
