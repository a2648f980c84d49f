// SPDX-License-Identifier: Apache-2.0
// Translates the texts of results.
#pragma once

#include "messages/words.h"
#include "results/results.h"

namespace locus::results {

/// Translates the titles, measures and labels that the catalogue has, and rewrites reasons and paper claims from the
/// numbers. Names stay: they identify tasks and lines. English changes nothing.
Results in_language(Results results, const Words& words);

}  // namespace locus::results
