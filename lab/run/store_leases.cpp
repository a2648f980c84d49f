// SPDX-License-Identifier: Apache-2.0
// What workers do with a store: lease, renew, finish; and what happens to expired leases.
#include <cmath>

#include "run/owner.h"
#include "run/spec.h"
#include "run/store.h"
#include "run/store_rows.h"
#include "run/store_session.h"

namespace locus::lab {
namespace {

using soci::into;
using soci::use;

constexpr int most_crashes = 2;
constexpr int most_losses = 10;

/// A condition on the table run_trials r.
std::string in_run(std::int64_t run) { return run == 0 ? "r.run > 0" : "r.run = " + std::to_string(run); }

/// Sets the state of a trial that lost its worker: it waits again, unless `counter` reaches its limit.
std::string waits_or_fails(const std::string& counter, int limit) {
  return "state = CASE WHEN " + counter + " >= " + std::to_string(limit - 1) + " THEN 'failed' ELSE 'waiting' END, " +
         counter + " = " + counter + " + 1";
}

}  // namespace

Queue Store::queue(std::int64_t run, const std::string& kind) {
  return session_->guarded([&] {
    Queue queue;
    session_->sql
        << "SELECT COALESCE(SUM(CASE WHEN q.state = 'waiting' THEN 1 ELSE 0 END), 0),"
           " COALESCE(SUM(CASE WHEN q.state = 'claimed' THEN 1 ELSE 0 END), 0)"
           " FROM (SELECT DISTINCT t.trial, t.state FROM run_trials r JOIN trials t ON t.trial = r.trial WHERE " +
               in_run(run) + " AND (t.repeats = '' OR t.kind = :kind)) q",
        into(queue.waiting), into(queue.leased), use(kind);
    return queue;
  });
}

std::optional<StoredTrial> Store::lease(std::int64_t run, const LeaseHolder& holder) {
  return session_->in_transaction([&]() -> std::optional<StoredTrial> {
    std::vector<StoredTrial> first = read_trials(
        session_->sql,
        "SELECT " + trial_columns + " FROM run_trials r JOIN trials t ON t.trial = r.trial WHERE " + in_run(run) +
            " AND t.state = 'waiting' AND (t.repeats = '' OR t.kind = :kind)"
            " ORDER BY r.run, r.place LIMIT 1" +
            session_->database->claim_one_row(),
        holder.kind);
    if (first.empty()) return {};
    const std::string clock = session_->database->clock();
    session_->change(
        "UPDATE trials SET state = 'claimed', owner = :owner, kind = :kind, fence = fence + 1, done = 0,"
        " started = " +
            clock + ", heartbeat = " + clock + ", expires = " + clock +
            " + :seconds"
            " WHERE trial = :key",
        holder.owner, holder.kind, holder.seconds, first.front().key);
    return read_trials(session_->sql, "SELECT " + trial_columns + " FROM trials t WHERE t.trial = :key",
                       first.front().key)
        .front();
  });
}

// An expired lease is renewed if no other worker has the trial.
bool Store::keep(const StoredTrial& leased, double done) {
  const std::string clock = session_->database->clock();
  return session_->guarded([&] {
    return session_->change(
               "UPDATE trials SET state = 'claimed', owner = :owner, kind = :kind, done = :done,"
               " expires = " +
                   clock + " + (expires - heartbeat), heartbeat = " + clock +
                   " WHERE trial = :key AND fence = :fence AND state IN ('claimed', 'waiting')",
               leased.owner, leased.kind, done, leased.key, leased.fence) == 1;
  });
}

bool Store::finish(const StoredTrial& leased, double seconds, const std::vector<Measurement>& all) {
  return session_->in_transaction([&] {
    const long long ended = session_->change(
        "UPDATE trials SET state = 'finished', owner = :owner, kind = :kind, done = 1, seconds = :seconds, error = ''"
        " WHERE trial = :key AND fence = :fence AND state <> 'finished'",
        leased.owner, leased.kind, seconds, leased.key, leased.fence);
    if (ended != 1) {
      int ours = 0;
      session_->sql << "SELECT COUNT(*) FROM trials WHERE trial = :key AND fence = :fence AND state = 'finished'",
          into(ours), use(leased.key), use(leased.fence);
      return ours == 1;
    }
    session_->change("DELETE FROM measurements WHERE trial = :key", leased.key);
    std::int64_t number = 0;
    Measurement row;
    soci::indicator known = soci::i_ok;
    soci::statement insert =
        (session_->sql.prepare << "INSERT INTO measurements VALUES (:key, :number, :line, :name, :length, :place,"
                                  " :value)",
         use(leased.key), use(number), use(row.line), use(row.name), use(row.length), use(row.place),
         use(row.value, known));
    for (const Measurement& one : all) {
      row = one;
      known = std::isfinite(row.value) ? soci::i_ok : soci::i_null;
      ++number;
      insert.execute(true);
    }
    return true;
  });
}

bool Store::fail(const StoredTrial& leased, const std::string& error) {
  return session_->guarded([&] {
    return session_->change(
               "UPDATE trials SET state = 'failed', owner = :owner, kind = :kind, error = :error"
               " WHERE trial = :key AND fence = :fence AND state IN ('claimed', 'waiting')",
               leased.owner, leased.kind, error, leased.key, leased.fence) == 1;
  });
}

void Store::release(const std::string& owner) {
  session_->guarded([&] {
    return session_->change(
        "UPDATE trials SET state = 'waiting', owner = '', done = 0 WHERE state = 'claimed' AND owner = :owner", owner);
  });
}

int Store::crashed(const std::string& owner, const std::string& how) {
  return session_->guarded([&] {
    return static_cast<int>(session_->change("UPDATE trials SET " + waits_or_fails("crashes", most_crashes) +
                                                 ", owner = '', done = 0, error = :error"
                                                 " WHERE state = 'claimed' AND owner = :owner",
                                             how, owner));
  });
}

int Store::lost(const std::string& owner, const std::string& how) {
  return session_->guarded([&] {
    return static_cast<int>(session_->change("UPDATE trials SET " + waits_or_fails("losses", most_losses) +
                                                 ", owner = '', done = 0, error = :error"
                                                 " WHERE state = 'claimed' AND owner = :owner",
                                             how, owner));
  });
}

int Store::release_stale(std::int64_t run) {
  const std::vector<StoredTrial> leased = session_->guarded([&] {
    return read_trials(session_->sql,
                       "SELECT DISTINCT " + trial_columns +
                           " FROM run_trials r JOIN trials t ON t.trial = r.trial WHERE " + in_run(run) +
                           " AND t.state = 'claimed' AND (t.owner LIKE :own OR " + session_->database->lease_ran_out() +
                           ")",
                       this_machine() + "/%");
  });
  int released = 0;
  for (const StoredTrial& trial : leased) {
    const bool gone = is_gone(trial.owner);
    released += session_->guarded([&] {
      return static_cast<int>(session_->change(
          "UPDATE trials SET " + waits_or_fails("losses", most_losses) +
              ", owner = '', done = 0, error = :error WHERE trial = :key AND state = 'claimed' AND fence = :fence" +
              (gone ? "" : " AND " + session_->database->lease_ran_out()),
          "its worker " + trial.owner + (gone ? " is gone" : " was silent for too long"), trial.key, trial.fence));
    });
  }
  return released;
}

bool Store::plan_repeat(std::int64_t run, const std::string& kind) {
  if (kind.empty()) return false;
  const auto needed = [&]() -> std::optional<StoredTrial> {
    const std::vector<StoredTrial> planned = read_repeats(session_->sql, run);
    for (const StoredTrial& one : planned) {
      if (one.kind == kind) return {};
    }
    // All kinds repeat the same trial: the first worker that needs one chooses the shortest of another kind.
    const std::string chosen = planned.empty() ? "" : planned.front().repeats;
    const std::vector<StoredTrial> original =
        read_trials(session_->sql,
                    "SELECT " + trial_columns +
                        " FROM run_trials r JOIN trials t ON t.trial = r.trial WHERE r.run = :run AND r.place > 0 AND "
                        "t.state = 'finished' AND t.kind <> '' AND t.kind <> :kind AND (:chosen = '' "
                        "OR t.trial = :same)"
                        " ORDER BY t.seconds, t.trial LIMIT 1",
                    run, kind, chosen, chosen);
    if (original.empty()) return {};
    return original.front();
  };
  if (!session_->guarded(needed)) return false;
  return session_->in_transaction(Locking::exclusive, [&] {
    const std::optional<StoredTrial> original = needed();  // another worker may have queued it meanwhile
    if (!original) return false;
    const std::string key = original->key + "@" + kind;
    session_->change(
        "INSERT INTO trials (trial, spec, state, owner, started, heartbeat, done, seconds, crashes, error, kind, "
        "repeats)"
        " VALUES (:key, :spec, 'waiting', '', 0, 0, 0, 0, 0, '', :kind, :original) ON CONFLICT (trial) DO NOTHING",
        key, to_json(original->spec).dump(), kind, original->key);
    session_->change(
        "INSERT INTO run_trials SELECT :run, COALESCE(MIN(place), 0) - 1, :key FROM run_trials"
        " WHERE run = :same AND place < 0",
        run, key, run);
    return true;
  });
}

}  // namespace locus::lab
