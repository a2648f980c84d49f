// SPDX-License-Identifier: Apache-2.0
// `locus-lab speed`: how much faster training is with the library's kernels than with torch operations.
#pragma once

#include <string>
#include <vector>

#include "results/results.h"
#include "trial.h"

namespace locus::lab {

/// argv[1] is "speed". Exit code 0, or 2 for bad input.
int speed_main(int argc, char** argv);

/// Measures for a few seconds, for results.json.
results::Speed measured_speed(const TrialSpec& spec, const std::vector<std::string>& schemes);

}  // namespace locus::lab
