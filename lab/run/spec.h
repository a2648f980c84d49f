// SPDX-License-Identifier: Apache-2.0
// A trial's spec as text, for the store, and the key that identifies a trial.
#pragma once

#include <string>

#include "run/json.h"
#include "trial.h"

namespace locus::lab {

Json to_json(const TrialSpec& spec);
/// Error: a field is missing, unknown or of another type.
TrialSpec spec_from_json(const Json& json);

/// Returns a short readable key, e.g. "verbs-rope-1-5f3a09c2d1e4b786". Equal specs have equal keys; a different field,
/// content of the text file or version of Locus gives a different key.
std::string key_of(const TrialSpec& spec);

}  // namespace locus::lab
