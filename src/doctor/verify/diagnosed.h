// SPDX-License-Identifier: Apache-2.0
// Passes the arrays of a failed check to diagnose, if no fault model gives their numbers.
#pragma once

#include <optional>
#include <string_view>

#include "doctor/verify/fault_model.h"
#include "locus/doctor/diagnose.h"
#include "locus/doctor/diagnose_bias.h"

namespace locus::doctor {

/// Returns the first verdict if it is a fault of the catalogue and has at least this confidence.
std::optional<Verdict> first_verdict(const std::vector<Verdict>& verdicts, double confidence);

/// Converts an explanation to a model that predicts other calls: another encoding, or positions shifted by a constant.
std::optional<FaultModel> model_of(const Diagnosis& diagnosis, const Explanation& found, std::span<const Position> ids);

/// The same for a bias that is linear in the distance or in the key.
std::optional<FaultModel> model_of(const BiasDiagnosis& diagnosis);

}  // namespace locus::doctor
