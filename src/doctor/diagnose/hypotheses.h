// SPDX-License-Identifier: Apache-2.0
// The faults that are known by name, each as a prediction of the angles that it would have led to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/diagnose/turn_rates.h"
#include "locus/encoding.h"

namespace locus::doctor {

/// What was expected, brought to the slice that was measured.
struct Expected {
  Encoding encoding;
  PositionIds ids;                  ///< [axes, batch or 1, tokens]
  std::vector<Position> positions;  ///< [rows] of a one-axis encoding; empty otherwise
  Role role = Role::query;
};

struct Hypothesis {
  std::string name;
  std::string text;
  std::vector<Complex> z;  ///< [rows, pairs]
  int unlikely = 0;        ///< among those that fit, small ones go first
};

/// All but the wrong positions and precisions, which are looked for when these do not fit.
std::vector<Hypothesis> known_faults(const Turning& turning, const Expected& expected,
                                     const std::optional<TurnRates>& rates, double unit);

/// The same angles in other arithmetic.
std::vector<Hypothesis> precisions(const Expected& expected, std::int64_t rows);

/// The expected frequencies at whatever positions explain the dump; absent where none do, or where they are as meant.
std::optional<Hypothesis> other_positions(const Turning& turning, const Expected& expected, std::int64_t tokens,
                                          double unit);

}  // namespace locus::doctor
