// SPDX-License-Identifier: Apache-2.0
// Keeps workers at work until every trial of a run has an end.
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
  std::function<void(const std::vector<StoredTrial>&)> watch;  ///< told how things stand, a few times a second
  std::function<bool()> stop;                                  ///< asked as often; true ends the workers
};

/// True once every trial has finished or failed, false when stopped before. A crashed worker is replaced; a trial that
/// ended two workers has failed. Error where workers cannot work at all; the workers are ended then, too.
bool supervise(Store& store, std::int64_t run, const Supervision& how);

}  // namespace locus::lab
