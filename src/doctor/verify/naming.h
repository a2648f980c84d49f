// SPDX-License-Identifier: Apache-2.0
// Which fault of the catalogue gives all numbers that were seen.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "doctor/verify/fault_model.h"
#include "locus/doctor/check.h"

namespace locus::doctor {

/// "positions wrapped (at 32768)".
std::string text_of(const FaultModel& model);

/// How a model is held against what was seen.
struct Evidence {
  std::function<bool(const FaultModel&)> matches_first;  ///< one row that failed, for a start
  std::function<bool(const Condition&)> possible;        ///< whether it holds for all that failed
  std::function<bool(const FaultModel&)> matches;        ///< everything, failed checks and passed ones
};

/// The first model that matches everything, in all calls or else under a condition; else that none does, with the failed
/// checks and by how much they are off.
std::string likely_cause(const std::vector<FaultModel>& models, const std::vector<Check>& checks,
                         const Evidence& evidence);

}  // namespace locus::doctor
