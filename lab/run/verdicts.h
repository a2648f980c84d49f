// SPDX-License-Identifier: Apache-2.0
// Who learned a task, who does best beyond the training length, and by how much against the baseline.
#pragma once

#include "run/json.h"
#include "run/numbers.h"

namespace locus::lab {

/// Whether the trained scheme behind a line reached `learned_at` at the training length, in the mean over seeds. A
/// stretched line is judged by the scheme that was trained: what stretching does to it is a result, not a failure to
/// learn.
bool has_learned(const Numbers& numbers, const Json& task, const std::string& line);

/// `verdicts` and `pairs` of docs/results-format.md.
Json make_verdicts(const Numbers& numbers, const Json& header);
Json make_pairs(const Numbers& numbers, const Json& header);

}  // namespace locus::lab
