// SPDX-License-Identifier: Apache-2.0
// The request of a command line of the lab.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/models.h"
#include "run/plan.h"
#include "run/store.h"
#include "run/worker_process.h"

namespace locus::lab {

struct Request {
  PlanRequest plan;
  std::string baseline = "rope";
  std::string out = "locus-lab";
  std::string store;  ///< a URL; empty: a file in `out`
  std::optional<int> workers;
  double lease_seconds = 60;
  double patience = 600;
  bool restart = false;
  bool measure = false;  ///< of `plan`
  bool no_speed = false;
  bool no_report = false;
  bool json = false;
  std::string save_models;
  std::string language = "en";  ///< of report.html
  std::string until = "empty";  ///< for `work` and `slurm`
  // For `slurm`:
  int tasks = 0;
  std::vector<std::string> sbatch;
  std::int64_t run = 0;            ///< for `results` (0: the last) and for a worker (0: all)
  bool no_curves = false;          ///< for `results`
  std::vector<std::string> parts;  ///< for `results`: files or folders to merge instead of reading a store
  // For a worker:
  std::string models, kept;
};

int workers_of(const Request& request);
std::string store_url(const Request& request);
SaveModels models_of(const Request& request);

/// Creates the folder `out` if it is missing. Error: that fails.
void make_out_folder(const Request& request);

/// Opens the store, or creates it. Fails at once if the database cannot be reached. If it becomes unreachable later,
/// waits and says so on standard error. `stop` ends the wait.
Store open_store(const Request& request, std::function<bool()> stop = {});
/// The same for a store that must exist.
Store open_existing_store(const Request& request);

/// Starts a worker of a run, or of all runs if `run` is 0.
WorkerCommand worker_command(const Request& request, std::int64_t run, const SaveModels& save = {});

}  // namespace locus::lab
