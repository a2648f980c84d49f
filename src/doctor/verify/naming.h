// SPDX-License-Identifier: Apache-2.0
// Finds the fault of the catalogue that gives all observed numbers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "doctor/verify/fault_model.h"
#include "locus/doctor/check.h"

namespace locus::doctor {

/// Formats "positions wrapped (at 32768)".
std::string text_of(const FaultModel& model);

/// How a model is compared with the observations. Cheap rows of passed checks come first, because they reject most
/// models.
struct Evidence {
  std::function<bool(const Condition&)> possible;  ///< true if the condition holds for all failed checks
  /// Returns the indices of cheap rows that passed and for which the condition holds.
  std::function<std::vector<std::size_t>(const Condition&)> guards;
  std::function<bool(const FaultModel&, std::size_t guard)> matches_guard;
  std::function<bool(const FaultModel&)> matches_first;  ///< compares one row that failed
  std::function<bool(const FaultModel&)> matches;        ///< compares everything, failed checks and passed ones
};

/// Returns the first model that matches everything: in all calls, or else under a condition.
std::optional<FaultModel> likely_model(const Models& models, const Evidence& evidence);

/// Formats "none of the known faults gives these numbers; off are ...": the failed checks and the size of each error.
std::string no_known_fault(const std::vector<Check>& checks);

}  // namespace locus::doctor
