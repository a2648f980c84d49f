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

/// The first model that `matches` everything, failed checks and passed ones; else that none does, with the failed checks
/// and by how much they are off.
std::string likely_cause(const std::vector<FaultModel>& models, const std::vector<Check>& checks,
                         const std::function<bool(const FaultModel&)>& matches);

}  // namespace locus::doctor
