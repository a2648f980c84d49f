// SPDX-License-Identifier: Apache-2.0
// A worker: a process that runs one trial after another.
#pragma once

#include <cstdint>
#include <filesystem>

#include "run/models.h"
#include "run/parts.h"
#include "run/store.h"

namespace locus::lab {

struct WorkerSettings {
  std::string store;           ///< its URL
  std::int64_t run = 0;        ///< 0: of all runs
  double lease_seconds = 60;   ///< after which a silent worker loses its trial
  double patience = 0;         ///< seconds to wait for an unreachable store
  std::filesystem::path kept;  ///< folder for results that cannot be delivered
  SaveModels save = {};
};

/// Runs waiting trials until none is left. A trial that throws has failed; the others continue. A trial finishes after
/// its model is saved. Error: the store fails; an undelivered result is kept on disk.
void work(const WorkerSettings& settings, const Parts& parts);

}  // namespace locus::lab
