// SPDX-License-Identifier: Apache-2.0
// What diagnose makes of the arrays of a failed check, where no fault model gives its numbers.
#pragma once

#include <optional>
#include <string_view>

#include "doctor/verify/fault_model.h"
#include "locus/doctor/diagnose.h"
#include "locus/doctor/diagnose_bias.h"

namespace locus::doctor {

/// The first verdict of a diagnosis if it is a fault of the catalogue, with this confidence at least.
std::optional<Verdict> first_verdict(const std::vector<Verdict>& verdicts, double confidence);

/// An explanation of a rotation as a model that predicts other calls: another encoding, other positions by a constant.
std::optional<FaultModel> model_of(const Diagnosis& diagnosis, const Explanation& found, std::span<const Position> ids);

/// The same for numbers that are linear in the distance, or in the key.
std::optional<FaultModel> model_of(const BiasDiagnosis& diagnosis);

}  // namespace locus::doctor
