// SPDX-License-Identifier: Apache-2.0
// The lab's store: runs, their trials, leases and measurements. Only store_session.cpp knows that it is SQLite; the
// statements are plain SQL, so that a shared PostgreSQL store can become another URL.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/json.h"
#include "trial.h"

namespace locus::lab {

enum class TrialState { waiting, leased, finished, failed };

struct StoredTrial {
  std::string key;  ///< see key_of
  TrialSpec spec;
  TrialState state = TrialState::waiting;
  std::string owner;     ///< of the lease
  double started = 0;    ///< seconds since 1970
  double heartbeat = 0;  ///< seconds since 1970
  double done = 0;       ///< share, 0 to 1, at the last heartbeat
  double seconds = 0;    ///< of a finished trial
  std::int64_t crashes = 0;
  std::string error;
};

inline bool has_ended(const StoredTrial& trial) {
  return trial.state == TrialState::finished || trial.state == TrialState::failed;
}

struct StoredRun {
  std::int64_t id = 0;
  std::string created;   ///< ISO 8601, UTC
  std::string finished;  ///< empty until it ends
  Json header;           ///< results::header_json: what results need besides trials
};

/// Safe to use from several processes at once. Error naming the store where it cannot be opened, read or written, or
/// belongs to another program.
class Store {
 public:
  /// "sqlite:PATH"; created where it does not exist.
  explicit Store(const std::string& url);
  Store(Store&&) noexcept;
  ~Store();

  /// Records a run and its trials in this order. Finished trials are reused and failed ones tried again; with
  /// `restart` all are run again.
  std::int64_t begin_run(const Json& header, const std::vector<TrialSpec>& trials, bool restart);
  /// Makes a finished trial wait again; returns whether it was finished.
  bool forget(const std::string& key);
  void set_header(std::int64_t run, const Json& header);
  void end_run(std::int64_t run);
  std::optional<StoredRun> latest_run();
  StoredRun find_run(std::int64_t run);

  std::vector<StoredTrial> trials(std::int64_t run);  ///< in the order of begin_run
  std::vector<StoredTrial> finished_trials();         ///< of all runs
  std::vector<Measurement> measurements(const std::string& key);

  /// Leases the first waiting trial of the run to `owner`; nothing if none waits.
  std::optional<StoredTrial> lease(std::int64_t run, const std::string& owner);
  /// Renews a lease; false if it was lost.
  bool keep(const std::string& key, const std::string& owner, double done);
  /// Ends a lease with all measurements at once; false, and nothing written, where it was lost.
  bool finish(const std::string& key, const std::string& owner, double seconds, const std::vector<Measurement>& all);
  bool fail(const std::string& key, const std::string& owner, const std::string& error);
  /// Returns the owner's trials to the queue.
  void release(const std::string& owner);
  /// The same for an owner that crashed; a trial that crashed twice has failed. Returns how many it held.
  int crashed(const std::string& owner, const std::string& how);
  /// Returns to the queue what processes hold that are gone or were silent for `silence` seconds; returns how many.
  int release_stale(std::int64_t run, double silence = 600);

 private:
  struct Session;
  std::unique_ptr<Session> session_;
};

}  // namespace locus::lab
