// SPDX-License-Identifier: Apache-2.0
// Keeps workers running until every trial of a run has ended.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "run/store.h"
#include "run/worker_process.h"

namespace locus::lab {

struct Supervision {
  int workers = 1;
  WorkerCommand command;
  std::function<void(const std::vector<StoredTrial>&)> watch;  ///< called a few times a second
  std::function<bool()> stop;                                  ///< asked as often; true ends the workers and the run
};

/// True once every trial has finished or failed, false if stopped before. A crashed worker is replaced; a trial that
/// crashed two workers has failed. Error: workers do not start. No worker outlives the call.
bool supervise(Store& store, std::int64_t run, const Supervision& how);

}  // namespace locus::lab
