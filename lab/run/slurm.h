// SPDX-License-Identifier: Apache-2.0
// `locus lab slurm`: submits an array job whose tasks are workers of a shared store.
#pragma once

#include <string>

#include "run/request.h"

namespace locus::lab {

/// Returns the job script. Every task works in a separate folder named after its array index, so a requeued task finds
/// it again. `program` is the path of this program.
std::string slurm_script(const Request& request, const std::string& program);

/// Writes the script to OUT/slurm.sh and passes it to sbatch. Returns sbatch's exit code, 0 or 1. Error: the store is
/// not shared, its URL contains a password, or there is no sbatch.
int submit_to_slurm(const Request& request);

}  // namespace locus::lab
