// SPDX-License-Identifier: Apache-2.0
// The lab's store: runs, their trials, who works on what, and the numbers. The only file that knows it is SQLite is
// store_session.cpp; the statements themselves are plain SQL, so that a shared PostgreSQL store is another URL later.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/json.h"
#include "trial.h"

namespace locus::lab {

enum class TrialState { waiting, claimed, finished, failed };

struct StoredTrial {
  std::string key;  ///< see key_of
  TrialSpec spec;
  TrialState state = TrialState::waiting;
  std::string owner;     ///< of the claim
  double started = 0;    ///< seconds since 1970
  double heartbeat = 0;  ///< the same
  double done = 0;       ///< share, 0 to 1, as of the last heartbeat
  double seconds = 0;    ///< of a finished trial
  std::int64_t crashes = 0;
  std::string error;
};

struct StoredRun {
  std::int64_t id = 0;
  std::string created;   ///< ISO 8601, UTC
  std::string finished;  ///< empty while it goes on
  Json header;           ///< what results need besides trials: preset, seeds, tasks, lines, machine, versions
};

/// Safe to use from several processes at once. A store that cannot be opened, read or written, or that is not one of
/// ours, gives locus::Error that names it.
class Store {
 public:
  /// "sqlite:PATH"; made where there is none.
  explicit Store(const std::string& url);
  Store(Store&&) noexcept;
  ~Store();

  /// Notes a run and its trials in this order. Trials that are finished already are reused, failed ones are tried
  /// again; with `restart` all are done anew.
  std::int64_t begin_run(const Json& header, const std::vector<TrialSpec>& trials, bool restart);
  /// A finished trial will be done anew; whether it was finished.
  bool forget(const std::string& key);
  void set_header(std::int64_t run, const Json& header);
  void end_run(std::int64_t run);
  std::optional<StoredRun> latest_run();
  StoredRun find_run(std::int64_t run);

  std::vector<StoredTrial> trials(std::int64_t run);  ///< in the order of begin_run
  std::vector<StoredTrial> finished_trials();         ///< of all runs
  std::vector<Measurement> measurements(const std::string& key);

  /// Takes the first waiting trial of the run, so that no one else can; none where there is none.
  std::optional<StoredTrial> claim(std::int64_t run, const std::string& owner);
  /// Keeps a claim alive; false where it has been lost to someone else.
  bool keep(const std::string& key, const std::string& owner, double done);
  /// Ends a claim, with all its measurements at once; false, and nothing written, where it has been lost.
  bool finish(const std::string& key, const std::string& owner, double seconds, const std::vector<Measurement>& all);
  bool fail(const std::string& key, const std::string& owner, const std::string& error);
  /// Gives back what an owner holds, which did nothing wrong.
  void release(const std::string& owner);
  /// The same for an owner that ended before its time; a trial that saw this twice has failed. How many it held.
  int crashed(const std::string& owner, const std::string& how);
  /// Gives back what is held by processes that are gone or were silent for `silence` seconds; how many that were.
  int release_stale(std::int64_t run, double silence = 600);

 private:
  struct Session;
  std::unique_ptr<Session> session_;
};

}  // namespace locus::lab
