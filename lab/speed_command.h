// SPDX-License-Identifier: Apache-2.0
// `locus-lab speed`: how much faster training is on the library's kernels than in torch's own operations.
#pragma once

#include "run/json.h"

namespace locus::lab {

/// argv[1] is "speed". Exit code 0, or 2 for bad input.
int speed_main(int argc, char** argv);

/// A few seconds of it, as results.json has it: {steps_per_second_ratio, task, schemes {name: {ours, torch, ratio}}}.
Json measured_speed();

}  // namespace locus::lab
