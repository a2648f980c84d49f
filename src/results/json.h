// SPDX-License-Identifier: Apache-2.0
// Results as JSON, both ways: docs/results-format.md.
#pragma once

#include "results/fields.h"
#include "results/results.h"

namespace locus::results {

/// The whole object, with the ranking that follows from it.
Json to_json(const Results& results);

/// Error naming the place where the JSON breaks the format, or its version where that is not 1. `ranking` is not read:
/// it follows from the rest.
Results read_results(const Json& json);

// ---- the parts that the lab's store keeps before there are numbers

/// {run, tasks, lines} of a run that begins.
Json header_json(const Results& results);
Results read_header(const Json& json);

Json to_json(const Speed& speed);

}  // namespace locus::results
