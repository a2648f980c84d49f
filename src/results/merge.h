// SPDX-License-Identifier: Apache-2.0
// Merges the results of runs that divided one plan among them, by tasks or by schemes.
#pragma once

#include <vector>

#include "results/results.h"

namespace locus::results {

/// Returns the parts as one run, with estimates, outcomes, pairs and paper claims computed again over all of them. Tasks and
/// lines keep the order of the parts. `created` is the earliest of the parts, `finished` the latest, and empty if a part
/// has not ended. `machine` and `speed` are those of the first part that has them.
/// Error: no part, parts whose preset, seeds, baseline or versions differ, a task whose settings differ, or a line of a
/// task that two parts have.
Results merged(const std::vector<Results>& parts);

}  // namespace locus::results
