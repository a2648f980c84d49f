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
  double lease_seconds = 60;   ///< until a silent worker loses its trial
  double patience = 0;         ///< seconds to wait for a store that is away
  std::filesystem::path kept;  ///< folder for results that the store cannot take
  SaveModels save = {};
};

/// Runs waiting trials until none is left. A trial that throws has failed; the others continue. Error if the store
/// fails; a result that is ready by then is kept on disk. A trial finishes after its model is saved.
void work(const WorkerSettings& settings, const Parts& parts);

}  // namespace locus::lab
