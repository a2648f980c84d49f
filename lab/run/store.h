// SPDX-License-Identifier: Apache-2.0
// The lab's store: runs, their trials, leases and measurements, in an SQLite file or in a PostgreSQL database.
// database.h hides the differences between the two; the statements are the same.
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
  std::string owner;       ///< the process that holds the lease or finished the trial
  std::string kind;        ///< of the machine that holds the lease or finished the trial; empty if unknown
  std::string repeats;     ///< the key of the trial that this one repeats on a machine of another kind; else empty
  std::int64_t fence = 0;  ///< fencing number: grows with every lease of this trial
  double started = 0;      ///< all times are the database's, in seconds since 1970
  double heartbeat = 0;
  double expires = 0;  ///< when the lease expires, unless it is renewed
  double done = 0;     ///< share, 0 to 1, at the last heartbeat
  double seconds = 0;  ///< of a finished trial
  std::int64_t crashes = 0;
  std::int64_t losses = 0;  ///< leases that expired, or whose worker was killed
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

/// The process that takes a lease, and how long the lease lasts without a heartbeat.
struct LeaseHolder {
  std::string owner;
  std::string kind = {};
  double seconds = 60;
};

/// The trials of a run, or of all runs, that a kind of machine may still have to run.
struct Queue {
  std::int64_t waiting = 0;
  std::int64_t leased = 0;  ///< by anyone
};

/// Thrown if a database becomes unreachable for longer than the patience.
class StoreAway : public Error {
  using Error::Error;
};

/// How to wait for a database that is unreachable or out of space. Every call of the store waits and is repeated.
struct Patience {
  double seconds = 0;                                     ///< longest wait; then StoreAway
  std::function<void(const std::string& why)> away = {};  ///< called once when a wait begins. May be absent
  std::function<void(double seconds)> back = {};          ///< called when the database is back. May be absent
  std::function<bool()> stop = {};                        ///< polled; true ends the wait. May be absent
};

/// Several processes and machines may use a store at once; an object belongs to one thread. Error: the store cannot be
/// opened, read or written, belongs to another program or to a newer version.
class Store {
 public:
  /// Opens "sqlite:PATH" or "postgresql://...", in libpq's syntax; creates the tables if there are none.
  explicit Store(const std::string& url, Patience patience = {});
  /// Returns whether there is a store. Creates nothing. Error: the database is unreachable.
  static bool exists(const std::string& url);
  Store(Store&&) noexcept;
  ~Store();

  void set_patience(Patience patience);
  const std::string& name() const;  ///< for messages: without a password
  bool is_shared() const;           ///< other machines may use it
  std::string id();                 ///< differs between any two stores
  double now();                     ///< by the database's clock

  /// Records a run and its trials in this order. Finished trials are reused and failed ones run again; with `restart`
  /// all run again. Never waits.
  std::int64_t begin_run(const Json& header, const std::vector<TrialSpec>& trials, bool restart);
  /// Returns a finished trial to the queue; returns whether it was finished.
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

  // For all runs if `run` is 0:
  Queue queue(std::int64_t run, const std::string& kind);
  /// Leases the first waiting trial to a holder; empty if none waits.
  std::optional<StoredTrial> lease(std::int64_t run, const LeaseHolder& holder);
  /// Returns to the queue trials whose lease expired or whose process on this machine is gone; returns their number.
  int release_stale(std::int64_t run);
  /// If two kinds of machine work on a run, one finished trial is repeated on the other kind to compare numbers: queues
  /// that trial for `kind` unless it is queued. Returns whether it queued one.
  bool plan_repeat(std::int64_t run, const std::string& kind);

  // These take the fencing number of the lease. An expired lease counts until the trial is leased again.
  /// Renews; false if the lease was lost.
  bool keep(const StoredTrial& leased, double done);
  /// Ends the trial with all its measurements in one transaction. Returns false and writes nothing if the lease was
  /// lost; returns true and writes nothing if the store already has this result.
  bool finish(const StoredTrial& leased, double seconds, const std::vector<Measurement>& all);
  bool fail(const StoredTrial& leased, const std::string& error);

  /// Returns the owner's trials to the queue.
  void release(const std::string& owner);
  /// The same for an owner that crashed; a trial that crashed twice has failed. Returns the number of its trials.
  int crashed(const std::string& owner, const std::string& how);
  /// The same for an owner that was killed; a trial that lost ten workers has failed.
  int lost(const std::string& owner, const std::string& how);

 private:
  struct Session;
  std::unique_ptr<Session> session_;
};

}  // namespace locus::lab
