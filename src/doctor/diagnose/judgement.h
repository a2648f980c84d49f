// SPDX-License-Identifier: Apache-2.0
// Weighs predictions against what was seen: which of them one dump cannot tell apart, and what they leave unexplained.
#pragma once

#include <vector>

#include "doctor/diagnose/predictions.h"
#include "locus/doctor/diagnose.h"

namespace locus::doctor {

/// A prediction that fits, with its share of the belief.
struct Candidate {
  Prediction prediction;
  Fit fit;
  double weight = 0;                 ///< of 1 for all candidates together
  std::string magnitude_fault = {};  ///< an id of the catalogue; empty: the magnitude is as predicted
};

struct AngleJudgement {
  std::vector<Candidate> candidates = {};  ///< those that fit whole, or the best that fits with exceptions
  bool whole = false;                      ///< they explain every token and pair that was measured
  double share = 0;                        ///< of tokens times pairs that the first explains
};

AngleJudgement judge_angles(const Turning& turning, const Expected& expected, const std::optional<TurnRates>& rates,
                            double unit);

/// What is wrong with the magnitude, given that it should be `meant`; empty: nothing.
std::string magnitude_fault_of(const Turning& turning, const Rotation& rotation, double meant);

/// Pairing, order of the output, width and offset against those expected.
std::vector<Verdict> judge_slice(const TurnedSlice& found, const TurnedSlice& expected);

}  // namespace locus::doctor
