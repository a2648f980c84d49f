// SPDX-License-Identifier: Apache-2.0
// Weighs hypotheses about the angles and the magnitude, and says what was found with how much confidence.
#pragma once

#include <vector>

#include "doctor/diagnose/hypotheses.h"
#include "locus/doctor/diagnose.h"

namespace locus::doctor {

struct AngleJudgement {
  std::vector<Verdict> verdicts;  ///< best first; the last resort is `unexplained`
  int unlikely = 0;               ///< of the first: 0 is as expected, 100 unexplained
};
AngleJudgement judge_angles(const Turning& turning, const Expected& expected, const std::optional<TurnRates>& rates,
                            std::int64_t tokens, double unit, const std::vector<Explanation>& explanations);

/// Magnitude missing, squared or otherwise wrong; nothing where it is right.
std::vector<Verdict> judge_magnitude(const Turning& turning, const Expected& expected, double unit);

/// Pairing, order of the output, width and offset against those expected.
std::vector<Verdict> judge_slice(const TurnedSlice& found, const TurnedSlice& expected);

}  // namespace locus::doctor
