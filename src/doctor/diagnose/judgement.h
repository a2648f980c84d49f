// SPDX-License-Identifier: Apache-2.0
// Weighs predictions against the measurement: which ones a single dump cannot distinguish, and what they leave
// unexplained.
#pragma once

#include <vector>

#include "doctor/diagnose/predictions.h"
#include "locus/doctor/diagnose.h"

namespace locus::doctor {

/// A prediction that fits, with its share of the probability.
struct Candidate {
  Prediction prediction;
  Fit fit;
  double weight = 0;                 ///< all candidates add up to 1
  std::string magnitude_fault = {};  ///< an id of the catalogue; empty: the magnitude is as predicted
};

struct AngleJudgement {
  std::vector<Candidate> candidates = {};  ///< all that fit completely, or else the best that fits with exceptions
  bool whole = false;                      ///< the candidates explain every measured token and pair
  double share = 0;                        ///< the share of tokens times pairs that the first candidate explains
};

AngleJudgement judge_angles(const Turning& turning, const Expected& expected, const std::optional<TurnRates>& rates,
                            double unit);

/// Returns the fault of a magnitude that should be `meant`. Empty: none.
std::string magnitude_fault_of(const Turning& turning, const Rotation& rotation, double meant);

/// Compares pairing, output order, width and offset with the expected ones.
std::vector<Verdict> judge_slice(const TurnedSlice& found, const TurnedSlice& expected);

}  // namespace locus::doctor
