// SPDX-License-Identifier: Apache-2.0
#include "run/store.h"

#include <array>
#include <chrono>
#include <cmath>
#include <limits>

#include "locus/error.h"
#include "run/clock.h"
#include "run/owner.h"
#include "run/spec.h"
#include "run/store_session.h"

namespace locus::lab {
namespace {

using soci::into;
using soci::use;

// Of TrialState, as the database has them.
constexpr std::array<const char*, 4> state_names = {"waiting", "claimed", "finished", "failed"};

TrialState state_from(const std::string& text) {
  for (std::size_t i = 0; i < state_names.size(); ++i) {
    if (text == state_names[i]) return static_cast<TrialState>(i);
  }
  fail("a trial in the store has the unknown state \"", text, "\"");
}

Json parse(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  require(json.is_object(), "the store holds text that is not JSON: ", text.substr(0, 80));
  return json;
}

const std::string trial_columns =
    "t.trial, t.spec, t.state, t.owner, t.started, t.heartbeat, t.done, t.seconds, t.crashes, t.error";

/// Reads all rows of a statement whose columns are trial_columns; `values` fill its places.
template <class... Values>
std::vector<StoredTrial> read_trials(soci::session& sql, const std::string& statement_text, const Values&... values) {
  StoredTrial row;
  std::string spec, state;
  std::vector<StoredTrial> rows;
  soci::statement statement =
      (sql.prepare << statement_text, into(row.key), into(spec), into(state), into(row.owner), into(row.started),
       into(row.heartbeat), into(row.done), into(row.seconds), into(row.crashes), into(row.error));
  (statement.exchange(use(values)), ...);
  statement.define_and_bind();
  statement.execute();
  while (statement.fetch()) {
    row.spec = spec_from_json(parse(spec));
    row.state = state_from(state);
    rows.push_back(row);
  }
  return rows;
}

/// Runs a statement that changes rows and says how many it changed.
template <class... Values>
long long change(soci::session& sql, const std::string& statement_text, const Values&... values) {
  soci::statement statement(sql);
  (statement.exchange(use(values)), ...);
  statement.alloc();
  statement.prepare(statement_text);
  statement.define_and_bind();
  statement.execute(true);
  return statement.get_affected_rows();
}

void add_trial(soci::session& sql, const TrialSpec& spec, bool restart) {
  const std::string key = key_of(spec), text = to_json(spec).dump();
  change(sql,
         "INSERT INTO trials SELECT :key, :spec, 'waiting', '', 0, 0, 0, 0, 0, ''"
         " WHERE NOT EXISTS (SELECT 1 FROM trials WHERE trial = :again)",
         key, text, key);
  // The text file of a spec may have moved.
  change(sql, "UPDATE trials SET spec = :spec WHERE trial = :key", text, key);
  change(sql,
         "UPDATE trials SET state = 'waiting', owner = '', crashes = 0, error = ''"
         " WHERE trial = :key AND state = 'failed'",
         key);
  if (!restart) return;
  change(sql, "DELETE FROM measurements WHERE trial = :key", key);
  change(sql, "UPDATE trials SET state = 'waiting', owner = '', done = 0, seconds = 0, crashes = 0 WHERE trial = :key",
         key);
}

}  // namespace

Store::Store(const std::string& url) : session_(std::make_unique<Session>(url)) {}
Store::Store(Store&&) noexcept = default;
Store::~Store() = default;

std::int64_t Store::begin_run(const Json& header, const std::vector<TrialSpec>& specs, bool restart) {
  soci::session& sql = session_->sql;
  return session_->in_transaction([&] {
    std::int64_t run = 0, place = 0;
    sql << "SELECT COALESCE(MAX(id), 0) + 1 FROM runs", into(run);
    change(sql, "INSERT INTO runs VALUES (:id, :created, '', :header)", run, iso_time(now()), header.dump());
    for (const TrialSpec& spec : specs) {
      add_trial(sql, spec, restart);
      change(sql, "INSERT INTO run_trials VALUES (:run, :place, :key)", run, ++place, key_of(spec));
    }
    return run;
  });
}

bool Store::forget(const std::string& key) {
  soci::session& sql = session_->sql;
  return session_->in_transaction([&] {
    const long long finished = change(
        sql, "UPDATE trials SET state = 'waiting', done = 0, seconds = 0 WHERE trial = :key AND state = 'finished'",
        key);
    if (finished == 1) change(sql, "DELETE FROM measurements WHERE trial = :key", key);
    return finished == 1;
  });
}

void Store::set_header(std::int64_t run, const Json& header) {
  session_->guarded(
      [&] { change(session_->sql, "UPDATE runs SET header = :header WHERE id = :run", header.dump(), run); });
}

void Store::end_run(std::int64_t run) {
  session_->guarded([&] {
    change(session_->sql, "UPDATE runs SET finished = :now WHERE id = :run AND finished = ''", iso_time(now()), run);
  });
}

std::optional<StoredRun> Store::latest_run() {
  std::int64_t latest = 0;
  session_->guarded([&] { session_->sql << "SELECT COALESCE(MAX(id), 0) FROM runs", into(latest); });
  if (latest == 0) return {};
  return find_run(latest);
}

StoredRun Store::find_run(std::int64_t run) {
  return session_->guarded([&] {
    StoredRun row{run, {}, {}, {}};
    std::string header;
    session_->sql << "SELECT created, finished, header FROM runs WHERE id = :run", into(row.created),
        into(row.finished), into(header), use(run);
    require(session_->sql.got_data(), "the store ", session_->name, " has no run ", run);
    row.header = parse(header);
    return row;
  });
}

std::vector<StoredTrial> Store::trials(std::int64_t run) {
  return session_->guarded([&] {
    return read_trials(session_->sql,
                       "SELECT " + trial_columns +
                           " FROM run_trials r JOIN trials t ON t.trial = r.trial WHERE r.run = :run ORDER BY r.place",
                       run);
  });
}

std::vector<StoredTrial> Store::finished_trials() {
  return session_->guarded([&] {
    return read_trials(session_->sql,
                       "SELECT " + trial_columns + " FROM trials t WHERE t.state = 'finished' ORDER BY t.trial");
  });
}

std::vector<Measurement> Store::measurements(const std::string& key) {
  return session_->guarded([&] {
    Measurement row;
    soci::indicator known = soci::i_ok;
    std::vector<Measurement> rows;
    soci::statement statement =
        (session_->sql.prepare
             << "SELECT line, name, length, place, value FROM measurements WHERE trial = :key ORDER BY number",
         into(row.line), into(row.name), into(row.length), into(row.place), into(row.value, known), use(key));
    statement.execute();
    while (statement.fetch()) {
      if (known != soci::i_ok) row.value = std::numeric_limits<double>::quiet_NaN();
      rows.push_back(row);
    }
    return rows;
  });
}

std::optional<StoredTrial> Store::lease(std::int64_t run, const std::string& owner) {
  soci::session& sql = session_->sql;
  return session_->in_transaction([&]() -> std::optional<StoredTrial> {
    std::vector<StoredTrial> first =
        read_trials(sql,
                    "SELECT " + trial_columns +
                        " FROM run_trials r JOIN trials t ON t.trial = r.trial"
                        " WHERE r.run = :run AND t.state = 'waiting' ORDER BY r.place LIMIT 1",
                    run);
    if (first.empty()) return {};
    StoredTrial& trial = first.front();
    trial.state = TrialState::leased;
    trial.owner = owner;
    trial.started = trial.heartbeat = now();
    const long long taken = change(sql,
                                   "UPDATE trials SET state = 'claimed', owner = :owner, started = :started,"
                                   " heartbeat = :heartbeat, done = 0 WHERE trial = :key AND state = 'waiting'",
                                   owner, trial.started, trial.heartbeat, trial.key);
    if (taken != 1) return {};
    return trial;
  });
}

bool Store::keep(const std::string& key, const std::string& owner, double done) {
  return session_->guarded([&] {
    return change(session_->sql,
                  "UPDATE trials SET heartbeat = :now, done = :done"
                  " WHERE trial = :key AND state = 'claimed' AND owner = :owner",
                  now(), done, key, owner) == 1;
  });
}

bool Store::finish(const std::string& key, const std::string& owner, double seconds,
                   const std::vector<Measurement>& all) {
  soci::session& sql = session_->sql;
  return session_->in_transaction([&] {
    const long long ended = change(sql,
                                   "UPDATE trials SET state = 'finished', owner = '', done = 1, seconds = :seconds,"
                                   " error = '' WHERE trial = :key AND state = 'claimed' AND owner = :owner",
                                   seconds, key, owner);
    if (ended != 1) return false;
    change(sql, "DELETE FROM measurements WHERE trial = :key", key);
    std::int64_t number = 0;
    Measurement row;
    soci::indicator known = soci::i_ok;
    soci::statement insert =
        (sql.prepare << "INSERT INTO measurements VALUES (:key, :number, :line, :name, :length,"
                        " :place, :value)",
         use(key), use(number), use(row.line), use(row.name), use(row.length), use(row.place), use(row.value, known));
    for (const Measurement& one : all) {
      row = one;
      known = std::isfinite(row.value) ? soci::i_ok : soci::i_null;
      ++number;
      insert.execute(true);
    }
    return true;
  });
}

bool Store::fail(const std::string& key, const std::string& owner, const std::string& error) {
  return session_->guarded([&] {
    return change(session_->sql,
                  "UPDATE trials SET state = 'failed', owner = '', error = :error"
                  " WHERE trial = :key AND state = 'claimed' AND owner = :owner",
                  error, key, owner) == 1;
  });
}

void Store::release(const std::string& owner) {
  session_->guarded([&] {
    change(session_->sql,
           "UPDATE trials SET state = 'waiting', owner = '', done = 0 WHERE state = 'claimed' AND owner = :owner",
           owner);
  });
}

int Store::crashed(const std::string& owner, const std::string& how) {
  return session_->guarded([&] {
    return static_cast<int>(change(session_->sql,
                                   "UPDATE trials SET crashes = crashes + 1, owner = '', done = 0, error = :error,"
                                   " state = CASE WHEN crashes >= 1 THEN 'failed' ELSE 'waiting' END"
                                   " WHERE state = 'claimed' AND owner = :owner",
                                   how, owner));
  });
}

int Store::release_stale(std::int64_t run, double silence) {
  int released = 0;
  for (const StoredTrial& trial : trials(run)) {
    if (trial.state != TrialState::leased) continue;
    if (now() - trial.heartbeat < silence && !is_gone(trial.owner)) continue;
    released += session_->guarded([&] {
      return static_cast<int>(change(session_->sql,
                                     "UPDATE trials SET state = 'waiting', owner = '', done = 0"
                                     " WHERE trial = :key AND state = 'claimed' AND owner = :owner"
                                     " AND heartbeat = :heartbeat",
                                     trial.key, trial.owner, trial.heartbeat));
    });
  }
  return released;
}

}  // namespace locus::lab
