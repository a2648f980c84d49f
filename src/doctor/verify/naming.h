// SPDX-License-Identifier: Apache-2.0
// Which fault of the catalogue gives all numbers that were seen.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "doctor/verify/fault_model.h"
#include "locus/doctor/check.h"

namespace locus::doctor {

/// "positions wrapped (at 32768)".
std::string text_of(const FaultModel& model);

/// How a model is held against what was seen. Rows of passed checks that cost little come first: most models are
/// refused there.
struct Evidence {
  std::function<bool(const Condition&)> possible;  ///< whether it holds for all that failed
  /// Numbers of cheap rows that passed and for which the condition holds.
  std::function<std::vector<std::size_t>(const Condition&)> guards;
  std::function<bool(const FaultModel&, std::size_t guard)> matches_guard;
  std::function<bool(const FaultModel&)> matches_first;  ///< one row that failed
  std::function<bool(const FaultModel&)> matches;        ///< everything, failed checks and passed ones
};

/// The first model that matches everything, in all calls or else under a condition.
std::optional<FaultModel> likely_model(const Models& models, const Evidence& evidence);

/// "none of the known faults gives these numbers; off are ...": the failed checks and by how much they are off.
std::string none_of_the_known(const std::vector<Check>& checks);

}  // namespace locus::doctor
