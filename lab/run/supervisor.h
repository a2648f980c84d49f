// SPDX-License-Identifier: Apache-2.0
// Keeps workers of this machine running until every trial of a run, or of all runs, has ended.
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
  std::string kind = {};                    ///< of this machine
  std::function<void(const Queue&)> watch;  ///< called four times a second, or once a second for a shared store
  std::function<bool()> stop;               ///< called four times a second; true ends the workers
  bool stay = false;                        ///< continues when the queue is empty: more trials may come
};

/// Returns true when every trial of the run, or of all runs if it is 0, has ended on any machine; false if stopped
/// before. A worker that ends is replaced. A trial that crashed two workers, or lost ten to a kill, has failed. No
/// worker outlives the call.
/// Error: workers do not start.
bool supervise(Store& store, std::int64_t run, const Supervision& how);

}  // namespace locus::lab
