// SPDX-License-Identifier: Apache-2.0
// `locus lab slurm`: an array job whose tasks are workers of a shared store.
#pragma once

#include <string>

#include "run/request.h"

namespace locus::lab {

/// The job script: every task works in a folder of its own, named after its array index, which a requeued task finds
/// again. `program` is this one's path.
std::string slurm_script(const Request& request, const std::string& program);

/// Writes the script to OUT/slurm.sh and gives it to sbatch. Returns sbatch's exit code, 0 or 1. Error if the store is
/// not shared, its URL holds a password, or there is no sbatch.
int submit_to_slurm(const Request& request);

}  // namespace locus::lab
