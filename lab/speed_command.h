// SPDX-License-Identifier: Apache-2.0
// `locus-lab speed`: how much faster training is on the library's kernels than in torch's own operations.
#pragma once

#include <string>
#include <vector>

#include "run/json.h"
#include "trial.h"

namespace locus::lab {

/// argv[1] is "speed". Exit code 0, or 2 for bad input.
int speed_main(int argc, char** argv);

/// A few seconds of it, as results.json has it: {task, steps_per_second_ratio, schemes [{scheme, steps_per_second,
/// torch_steps_per_second, ratio}]}; the latter two null where the baseline does not know the scheme.
Json measured_speed(const TrialSpec& spec, const std::vector<std::string>& schemes);

}  // namespace locus::lab
