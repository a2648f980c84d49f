// SPDX-License-Identifier: Apache-2.0
// The command line of the lab.
#pragma once

#include "run/parts.h"

namespace locus::lab {

/// Runs the command and returns the exit code: 0, 1 if a trial failed, 2 for bad input.
int lab_main(int argc, char** argv, const Parts& parts);

}  // namespace locus::lab
