// SPDX-License-Identifier: Apache-2.0
// Converts results to and from JSON: docs/results-format.md.
#pragma once

#include <filesystem>

#include "results/fields.h"
#include "results/results.h"

namespace locus::results {

/// Parses a file. Error: it cannot be read or is not JSON.
Json read_json(const std::filesystem::path& file);

/// Returns the whole object, including the ranking.
Json to_json(const Results& results);

/// Error: JSON that violates the format, with the place, or a version other than 1. `ranking` is not read: it follows
/// from the rest.
Results read_results(const Json& json);

// ---- the parts that the lab's store needs before there are numbers

/// Returns {run, tasks, lines} of a new run.
Json header_json(const Results& results);
Results read_header(const Json& json);

Json to_json(const Speed& speed);

}  // namespace locus::results
