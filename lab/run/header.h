// SPDX-License-Identifier: Apache-2.0
// The part of a run's results that does not depend on trials, recorded at its start.
#pragma once

#include <string>

#include "results/results.h"
#include "run/parts.h"
#include "run/plan.h"

namespace locus::lab {

/// Returns run, tasks and lines of the plan, without times and speed. Error: a baseline that is not a line of the plan.
results::Results make_header(const Plan& plan, const Parts& parts, const std::string& baseline);

/// Makes the line of a name such as "rope+yarn+tuned".
results::Line describe_line(const std::string& name);

}  // namespace locus::lab
