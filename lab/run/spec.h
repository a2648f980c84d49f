// SPDX-License-Identifier: Apache-2.0
// A trial's spec as text: what the store keeps, and by what it knows a trial again.
#pragma once

#include <string>

#include "run/json.h"
#include "trial.h"

namespace locus::lab {

Json to_json(const TrialSpec& spec);
/// Error where a field is missing, of another kind, or unknown.
TrialSpec spec_from_json(const Json& json);

/// Short and readable, such as "verbs-rope-1-5f3a09c2d1e4b786": the same for equal specs, other for any other field,
/// other content of the text file, or other version of Locus.
std::string key_of(const TrialSpec& spec);

}  // namespace locus::lab
