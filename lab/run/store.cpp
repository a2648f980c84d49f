// SPDX-License-Identifier: Apache-2.0
// Runs and their trials; store_leases.cpp has what workers do.
#include "run/store.h"

#include <limits>

#include "run/clock.h"
#include "run/spec.h"
#include "run/store_rows.h"
#include "run/store_session.h"

namespace locus::lab {
namespace {

using soci::into;
using soci::use;

}  // namespace

Store::Store(const std::string& url, Patience patience)
    : session_(std::make_unique<Session>(url, std::move(patience))) {}

bool Store::exists(const std::string& url) {
  const std::unique_ptr<Database> database = find_database(url);
  try {
    return database->exists();
  } catch (const soci::soci_error& error) {
    throw Error("the store " + database->name() + ": " + message_of(error));
  }
}

Store::Store(Store&&) noexcept = default;
Store::~Store() = default;

void Store::set_patience(Patience patience) { session_->patience = std::move(patience); }
const std::string& Store::name() const { return session_->database->name(); }
bool Store::is_shared() const { return session_->database->is_shared(); }

std::string Store::id() {
  return session_->guarded([&] { return session_->database->id(session_->sql); });
}

double Store::now() {
  return session_->guarded([&] {
    double now = 0;
    session_->sql << "SELECT " + session_->database->clock(), into(now);
    return now;
  });
}

void Store::Session::add_trial(const TrialSpec& spec, bool restart) {
  const std::string key = key_of(spec), text = to_json(spec).dump();
  change(
      "INSERT INTO trials (trial, spec, state, owner, started, heartbeat, done, seconds, crashes, error)"
      " VALUES (:key, :spec, 'waiting', '', 0, 0, 0, 0, 0, '') ON CONFLICT (trial) DO NOTHING",
      key, text);
  // The text file of a spec may have moved.
  change("UPDATE trials SET spec = :spec WHERE trial = :key", text, key);
  change(
      "UPDATE trials SET state = 'waiting', owner = '', crashes = 0, losses = 0, error = ''"
      " WHERE trial = :key AND state = 'failed'",
      key);
  if (!restart) return;
  // With a new fencing number: earlier results no longer count.
  change(
      "UPDATE trials SET state = 'waiting', owner = '', done = 0, seconds = 0, crashes = 0, losses = 0,"
      " fence = fence + 1 WHERE trial = :key",
      key);
  change("DELETE FROM measurements WHERE trial = :key", key);
}

std::int64_t Store::begin_run(const Json& header, const std::vector<TrialSpec>& specs, bool restart) {
  // Not retried: after a lost connection, the run could be recorded twice.
  const Patience patience = std::exchange(session_->patience, {});
  const std::int64_t begun = session_->in_transaction(Locking::exclusive, [&] {
    std::int64_t run = 0, place = 0;
    session_->sql << "SELECT COALESCE(MAX(id), 0) + 1 FROM runs", into(run);
    session_->change("INSERT INTO runs VALUES (:id, :created, '', :header)", run, iso_time(lab::now()), header.dump());
    for (const TrialSpec& spec : specs) {
      session_->add_trial(spec, restart);
      session_->change("INSERT INTO run_trials VALUES (:run, :place, :key)", run, ++place, key_of(spec));
    }
    return run;
  });
  session_->patience = patience;
  return begun;
}

bool Store::forget(const std::string& key) {
  return session_->in_transaction([&] {
    const long long finished = session_->change(
        "UPDATE trials SET state = 'waiting', done = 0, seconds = 0, fence = fence + 1"
        " WHERE trial = :key AND state = 'finished'",
        key);
    if (finished == 1) session_->change("DELETE FROM measurements WHERE trial = :key", key);
    return finished == 1;
  });
}

void Store::set_header(std::int64_t run, const Json& header) {
  session_->guarded(
      [&] { return session_->change("UPDATE runs SET header = :header WHERE id = :run", header.dump(), run); });
}

void Store::end_run(std::int64_t run) {
  session_->guarded([&] {
    return session_->change("UPDATE runs SET finished = :now WHERE id = :run AND finished = ''", iso_time(lab::now()),
                            run);
  });
}

void Store::end_complete_runs() {
  session_->guarded([&] {
    return session_->change(
        "UPDATE runs SET finished = :now WHERE finished = '' AND NOT EXISTS (SELECT 1 FROM run_trials r"
        " JOIN trials t ON t.trial = r.trial WHERE r.run = runs.id AND r.place > 0"
        " AND t.state NOT IN ('finished', 'failed'))",
        iso_time(lab::now()));
  });
}

std::optional<StoredRun> Store::latest_run() {
  const std::int64_t latest = session_->guarded([&] {
    std::int64_t id = 0;
    session_->sql << "SELECT COALESCE(MAX(id), 0) FROM runs", into(id);
    return id;
  });
  if (latest == 0) return {};
  return find_run(latest);
}

StoredRun Store::find_run(std::int64_t run) {
  return session_->guarded([&] {
    StoredRun row{run, {}, {}, {}};
    std::string header;
    session_->sql << "SELECT created, finished, header FROM runs WHERE id = :run", into(row.created),
        into(row.finished), into(header), use(run);
    require(session_->sql.got_data(), "the store ", name(), " has no run ", run);
    row.header = parse_stored(header);
    return row;
  });
}

std::vector<std::int64_t> Store::unfinished_runs() {
  return session_->guarded([&] {
    std::int64_t id = 0;
    soci::statement statement =
        (session_->sql.prepare << "SELECT id FROM runs WHERE finished = '' ORDER BY id", into(id));
    statement.execute();
    std::vector<std::int64_t> runs;
    while (statement.fetch()) runs.push_back(id);
    return runs;
  });
}

std::vector<StoredTrial> Store::trials(std::int64_t run) {
  return session_->guarded([&] {
    return read_trials(session_->sql,
                       "SELECT " + trial_columns +
                           " FROM run_trials r JOIN trials t ON t.trial = r.trial"
                           " WHERE r.run = :run AND r.place > 0 ORDER BY r.place",
                       run);
  });
}

std::vector<StoredTrial> Store::repeats(std::int64_t run) {
  return session_->guarded([&] { return read_repeats(session_->sql, run); });
}

std::vector<StoredTrial> Store::finished_trials() {
  return session_->guarded([&] {
    return read_trials(session_->sql, "SELECT " + trial_columns +
                                          " FROM trials t WHERE t.state = 'finished' AND t.repeats = ''"
                                          " ORDER BY t.trial");
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

}  // namespace locus::lab
