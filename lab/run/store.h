// SPDX-License-Identifier: Apache-2.0
// The lab's store: runs, their trials, leases and measurements, in an SQLite file or in a PostgreSQL database. What
// differs between the two is behind database.h; the statements are the same.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "locus/error.h"
#include "run/json.h"
#include "trial.h"

namespace locus::lab {

enum class TrialState { waiting, leased, finished, failed };

struct StoredTrial {
  std::string key;  ///< see key_of
  TrialSpec spec;
  TrialState state = TrialState::waiting;
  std::string owner;       ///< who holds the lease, or finished the trial
  std::string kind;        ///< of the machine that holds the lease or finished the trial; empty if unknown
  std::string repeats;     ///< the key of the trial that this one repeats on a machine of another kind; else empty
  std::int64_t fence = 0;  ///< number of the lease: grows with every lease of this trial
  double started = 0;      ///< all times are the database's, in seconds since 1970
  double heartbeat = 0;
  double expires = 0;  ///< when the lease runs out, unless it is renewed
  double done = 0;     ///< share, 0 to 1, at the last heartbeat
  double seconds = 0;  ///< of a finished trial
  std::int64_t crashes = 0;
  std::int64_t losses = 0;  ///< leases that ran out, or whose worker was ended from outside
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

/// Who takes a lease, and for how long it lasts without a heartbeat.
struct LeaseHolder {
  std::string owner;
  std::string kind = {};
  double seconds = 60;
};

/// The trials of a run, or of all runs, that a machine of some kind may still have to run.
struct Queue {
  std::int64_t waiting = 0;
  std::int64_t leased = 0;  ///< by anyone
};

/// Thrown if a database that was reachable is not, and patience has ended.
class StoreAway : public Error {
  using Error::Error;
};

/// How to wait for a database that cannot be reached or has no room. Every call of the store waits and is repeated.
struct Patience {
  double seconds = 0;                                     ///< longest wait; then StoreAway
  std::function<void(const std::string& why)> away = {};  ///< called once when a wait begins. May be absent
  std::function<void(double seconds)> back = {};          ///< called when it ended well. May be absent
  std::function<bool()> stop = {};                        ///< asked now and then; true ends the wait. May be absent
};

/// Safe to use from several processes and machines at once; one object by one thread. Error naming the store if it
/// cannot be opened, read or written, belongs to another program or to a newer version.
class Store {
 public:
  /// "sqlite:PATH" or "postgresql://...", as libpq reads it; the tables are created if there are none.
  explicit Store(const std::string& url, Patience patience = {});
  /// Whether there is one. Creates nothing; Error if the database cannot be asked.
  static bool exists(const std::string& url);
  Store(Store&&) noexcept;
  ~Store();

  void set_patience(Patience patience);
  const std::string& name() const;  ///< for messages: without a password
  bool is_shared() const;           ///< other machines may use it
  std::string id();                 ///< differs between any two stores
  double now();                     ///< by the database's clock

  /// Records a run and its trials in this order. Finished trials are reused and failed ones tried again; with
  /// `restart` all are run again. Never waits.
  std::int64_t begin_run(const Json& header, const std::vector<TrialSpec>& trials, bool restart);
  /// Makes a finished trial wait again; returns whether it was finished.
  bool forget(const std::string& key);
  void set_header(std::int64_t run, const Json& header);
  void end_run(std::int64_t run);
  void end_complete_runs();  ///< the same for all runs whose trials have all ended
  std::optional<StoredRun> latest_run();
  StoredRun find_run(std::int64_t run);
  std::vector<std::int64_t> unfinished_runs();

  std::vector<StoredTrial> trials(std::int64_t run);   ///< in the order of begin_run
  std::vector<StoredTrial> repeats(std::int64_t run);  ///< see plan_repeat
  std::vector<StoredTrial> finished_trials();          ///< of all runs, without repeats
  std::vector<Measurement> measurements(const std::string& key);

  // Of all runs if `run` is 0:
  Queue queue(std::int64_t run, const std::string& kind);
  /// Leases the first waiting trial to a holder; nothing if none waits.
  std::optional<StoredTrial> lease(std::int64_t run, const LeaseHolder& holder);
  /// Returns to the queue leases that ran out, and those of processes of this machine that are gone; returns how many.
  int release_stale(std::int64_t run);
  /// If machines of two kinds work on a run, one finished trial is repeated on the other kind to compare numbers:
  /// queues that trial for `kind` unless it is there. Returns whether it queued one.
  bool plan_repeat(std::int64_t run, const std::string& kind);

  // With the fencing number of the lease. A lease that ran out counts until the trial is leased again.
  /// Renews; false if the lease was lost.
  bool keep(const StoredTrial& leased, double done);
  /// Ends the trial with all its measurements at once. False, and nothing written, if the lease was lost; true and
  /// nothing written if this very result is there already.
  bool finish(const StoredTrial& leased, double seconds, const std::vector<Measurement>& all);
  bool fail(const StoredTrial& leased, const std::string& error);

  /// Returns the owner's trials to the queue.
  void release(const std::string& owner);
  /// The same for an owner that crashed; a trial that crashed twice has failed. Returns how many it held.
  int crashed(const std::string& owner, const std::string& how);
  /// The same for an owner that was ended from outside; a trial that lost ten workers has failed.
  int lost(const std::string& owner, const std::string& how);

 private:
  struct Session;
  std::unique_ptr<Session> session_;
};

}  // namespace locus::lab
