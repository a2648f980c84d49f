// SPDX-License-Identifier: Apache-2.0
// The commands for a store that several machines work on. Each returns the exit code.
#pragma once

#include "run/parts.h"
#include "run/request.h"

namespace locus::lab {

/// Fills the queue with the trials of a plan; runs nothing.
int submit(const Request& request, const Parts& parts);
/// Runs waiting trials of all runs on this machine.
int work_on_store(const Request& request, const Parts& parts);
int show_status(const Request& request);

}  // namespace locus::lab
