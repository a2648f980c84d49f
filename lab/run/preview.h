// SPDX-License-Identifier: Apache-2.0
// `locus lab plan`: shows what would run and how long it would take.
#pragma once

#include <string>

#include "run/parts.h"
#include "run/plan.h"
#include "run/timing.h"

namespace locus::lab {

/// Estimated times of trials.
struct Guess {
  Timing timing;
  std::string source;  ///< what the estimate is based on, as text
};

/// Estimates from finished trials, and trains nothing. Without any, nothing is known and `source` is empty.
Guess known_times(const std::vector<StoredTrial>& finished);
/// Estimates from finished trials; for a task without any, trains a few steps.
Guess measured_times(const Plan& plan, const std::vector<StoredTrial>& finished, const Parts& parts);

/// {preset, seeds, workers, seconds, estimated_from, trials [{task, scheme, seed, train_length, lengths, steps, lines,
/// done}]}; `seconds` is the time left with that many workers, null if nothing is known of it.
Json preview(const Plan& plan, const std::vector<StoredTrial>& finished, const Guess& guess, const Parts& parts,
             int workers);
std::string preview_text(const Json& preview);

}  // namespace locus::lab
