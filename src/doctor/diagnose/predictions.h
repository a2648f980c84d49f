// SPDX-License-Identifier: Apache-2.0
// Faults as predictions: what the factors of every token and pair would be, and how well that fits what was seen.
#pragma once

#include <functional>
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
  std::int64_t tokens = 0;          ///< per batch row
  Role role = Role::query;
};

struct Prediction {
  std::string fault;  ///< an id of the catalogue
  std::string text;
  std::vector<Complex> z = {};           ///< [rows, pairs]; only the direction counts
  std::vector<double> angle = {};        ///< [rows, pairs]: how far it turned, for the errors of float32 angles
  std::vector<Position> positions = {};  ///< [rows] where they are not those expected
  double magnitude = 1;                  ///< of z, as this fault has it
  double prior = 1;                      ///< how likely among faults that fit as well
};

/// A prediction against what was seen. An angle may be off by the measured noise and by what float32 makes of it.
struct Fit {
  double misfit = 0;        ///< RMS over noise, of rows and pairs that are not listed below: about 1 where it is right
  double squares = 0;       ///< the sum of squares, over at most 2,000 numbers' worth
  double exact_misfit = 0;  ///< the same where angles are exact
  double worst_angle = 0;   ///< largest difference in radians, noise apart
  std::int64_t worst_row = 0, worst_pair = 0;
  std::vector<std::int64_t> bad_rows = {};   ///< tokens that do not fit
  std::vector<std::int64_t> bad_pairs = {};  ///< pairs that do not fit in most tokens
  bool whole() const { return bad_rows.empty() && bad_pairs.empty() && misfit < 2; }
};
Fit fit_of(const Turning& turning, const Prediction& prediction);

/// Frequencies at positions; `times` turns.
Prediction at_positions(std::string fault, std::string text, const std::vector<double>& w,
                        const std::vector<Position>& positions, double times = 1);

/// Everything as expected.
Prediction as_expected(const Expected& expected, std::int64_t rows);

/// Faults that have no parameter to be found, or few values of it. The first is as_expected().
std::vector<Prediction> definite_predictions(const Expected& expected, std::int64_t rows);

/// Sections of several axes swapped or cut elsewhere, and ids of all axes off together.
std::vector<Prediction> axis_predictions(const Expected& expected, std::int64_t rows);

/// What this dump may be unable to tell: base and factor half as large again and by a third smaller, a rule that moves
/// slow pairs only.
std::vector<Prediction> neighbours(const Expected& expected);

/// Rules whose attention factor is the magnitude that was seen.
std::vector<Prediction> magnitude_predictions(const Turning& turning, const Expected& expected);

/// The prior of a fitted parameter whose value is in common use; others have less.
constexpr double common_base_prior = 0.4;
/// Base and factor fitted.
std::vector<Prediction> fitted_parameters(const Turning& turning, const Expected& expected,
                                          const std::optional<TurnRates>& rates, double unit);

/// The expected frequencies at whatever positions explain the dump; absent where they explain less than half of it.
std::optional<Prediction> other_positions(const Turning& turning, const Expected& expected, double unit);

}  // namespace locus::doctor
