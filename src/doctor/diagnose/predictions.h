// SPDX-License-Identifier: Apache-2.0
// Turns faults into predictions: the factor of each token and pair under a fault, and how well it fits the measurement.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "doctor/diagnose/turn_rates.h"
#include "locus/encoding.h"

namespace locus::doctor {

/// The expectation, converted to the measured slice.
struct Expected {
  Encoding encoding;
  PositionIds ids;                  ///< [axes, batch or 1, tokens]
  std::vector<Position> positions;  ///< [rows] for an encoding with one axis; empty otherwise
  std::int64_t tokens = 0;          ///< per batch row
  Role role = Role::query;
};

struct Prediction {
  std::string fault;  ///< an id of the catalogue
  std::string text;
  std::vector<Complex> z = {};           ///< [rows, pairs]; only the direction matters
  std::vector<double> angle = {};        ///< [rows, pairs]: the angle, from which the error of float32 angles follows
  std::vector<Position> positions = {};  ///< [rows], if they differ from the expected ones
  double magnitude = 1;                  ///< of z under this fault
  double prior = 1;                      ///< the relative probability among faults that fit equally well
};

/// Compares a prediction with the measurement. Allows the measured noise and the error of float32 angles.
struct Fit {
  double misfit = 0;        ///< RMS over noise, without the rows and pairs listed below; about 1 if right
  double squares = 0;       ///< the sum of squares, scaled to at most 2,000 numbers
  double exact_misfit = 0;  ///< the same for exact angles
  double worst_angle = 0;   ///< largest difference in radians beyond noise
  std::int64_t worst_row = 0, worst_pair = 0;
  std::vector<std::int64_t> bad_rows = {};   ///< tokens that do not fit
  std::vector<std::int64_t> bad_pairs = {};  ///< pairs that do not fit in most tokens
  bool whole() const { return bad_rows.empty() && bad_pairs.empty() && misfit < 2; }
};
Fit fit_of(const Turning& turning, const Prediction& prediction);
/// Returns by how much the sum of squares of `other` is larger than that of `one`, over the angles that one of them expects
/// above the noise. Smaller ones are no evidence: rounding leaves many vectors unchanged, as if they turned slower.
double visible_difference(const Turning& turning, const Prediction& one, const Prediction& other);

/// Predicts the rotation by these frequencies at these positions, applied `times` times.
Prediction at_positions(std::string fault, std::string text, const std::vector<double>& w,
                        const std::vector<Position>& positions, double times = 1);

/// Predicts no fault.
Prediction as_expected(const Expected& expected, std::int64_t rows);

/// Predicts all faults without a parameter, or with few values of it. The first is as_expected().
std::vector<Prediction> definite_predictions(const Expected& expected, std::int64_t rows);

/// Predicts axis sections that are swapped or cut in the wrong place, and ids of all axes that are off by the same
/// amount.
std::vector<Prediction> axis_predictions(const Expected& expected, std::int64_t rows);

/// Predicts alternatives that this dump may not distinguish: base and factor larger by half or smaller by a third.
std::vector<Prediction> neighbours(const Expected& expected);

/// Predicts rules that change only slow pairs, from another trained length on. A short or coarse dump does not show these
/// pairs. The rules are variants of one alternative, so only the one that fits best is to be weighed.
std::vector<Prediction> slow_pair_rules(const Expected& expected);

/// Predicts rules whose attention factor equals the measured magnitude.
std::vector<Prediction> magnitude_predictions(const Turning& turning, const Expected& expected);

/// The prior of a fitted parameter with a common value; other values get less.
constexpr double common_base_prior = 0.4;
/// Predicts the best-fitting base and factor.
std::vector<Prediction> fitted_parameters(const Turning& turning, const Expected& expected,
                                          const std::optional<TurnRates>& rates, double unit);

/// Predicts the expected frequencies at the positions that fit best. Absent if they explain less than half of the dump.
std::optional<Prediction> other_positions(const Turning& turning, const Expected& expected, double unit);

}  // namespace locus::doctor
