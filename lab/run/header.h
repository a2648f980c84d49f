// SPDX-License-Identifier: Apache-2.0
// What a run notes of itself when it begins, so that its results can be made of the store alone.
#pragma once

#include <string>

#include "run/json.h"
#include "run/parts.h"
#include "run/plan.h"

namespace locus::lab {

/// {preset, seeds, baseline, machine, versions, speed, tasks, lines, lines_of {task: [names]}}; most as in
/// docs/results-format.md; the speed is for the caller to fill in.
Json make_header(const Plan& plan, const Parts& parts, const std::string& baseline);

/// "rope+yarn+tuned" as results.json tells it: {name, trained, label, site, variant, tuned}.
Json describe_line(const std::string& name);

}  // namespace locus::lab
