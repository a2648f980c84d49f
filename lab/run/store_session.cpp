// SPDX-License-Identifier: Apache-2.0
#include "run/store_session.h"

#include <soci/sqlite3/soci-sqlite3.h>

#include <string_view>

#include "locus/error.h"

namespace locus::lab {
namespace {

constexpr int our_application = 0x4c6f634c;  // "LocL", in the file's header
constexpr int our_version = 1;
constexpr int busy_seconds = 60;  // how long to wait for another process's transaction

std::string path_of(const std::string& url) {
  constexpr std::string_view kind = "sqlite:";
  require(url.starts_with(kind) && url.size() > kind.size(),
          "the store's address must be sqlite: and a file name, got \"", url, "\"");
  require(url.find('"') == std::string::npos, "the store's file name must not hold a quotation mark, got ", url);
  return url.substr(kind.size());
}

}  // namespace

Store::Session::Session(const std::string& url) : name(path_of(url)) {
  guarded([&] {
    sql.open(soci::sqlite3, "dbname=\"" + name + "\" timeout=" + std::to_string(busy_seconds));
    require_lab_store();
    sql << "PRAGMA synchronous=NORMAL";  // with a write-ahead log: safe against kills, and no wait per heartbeat
  });
}

void Store::Session::require_lab_store() {
  int things = 0;
  sql << "SELECT COUNT(*) FROM sqlite_master", soci::into(things);
  if (things == 0) {
    try {
      sql << "PRAGMA journal_mode=WAL";
    } catch (const soci::soci_error&) {  // another process is creating this store; any other error comes up below
    }
    Transaction transaction(sql);
    make_tables();
    sql << "PRAGMA application_id=" << our_application;
    sql << "PRAGMA user_version=" << our_version;
    transaction.commit();
  }
  int application = 0, version = 0;
  std::string state;
  sql << "PRAGMA application_id", soci::into(application);
  sql << "PRAGMA user_version", soci::into(version);
  require(application == our_application, name, " belongs to another program; it is not a store of the lab");
  require(version == our_version, name, " is a store of version ", version, "; this lab reads version ", our_version);
  sql << "PRAGMA quick_check(1)", soci::into(state);
  require(state == "ok", "the store ", name, " is damaged: ", state, "; remove it or name another --out");
}

// `place` orders the trials of a run, and is depth, bucket or step of a measurement. Values that are not finite are null.
void Store::Session::make_tables() {
  sql << "CREATE TABLE IF NOT EXISTS runs (id BIGINT PRIMARY KEY, created TEXT NOT NULL, finished TEXT NOT NULL,"
         " header TEXT NOT NULL)";
  sql << "CREATE TABLE IF NOT EXISTS trials (trial TEXT PRIMARY KEY, spec TEXT NOT NULL, state TEXT NOT NULL,"
         " owner TEXT NOT NULL, started DOUBLE PRECISION NOT NULL, heartbeat DOUBLE PRECISION NOT NULL,"
         " done DOUBLE PRECISION NOT NULL, seconds DOUBLE PRECISION NOT NULL, crashes BIGINT NOT NULL,"
         " error TEXT NOT NULL)";
  sql << "CREATE TABLE IF NOT EXISTS run_trials (run BIGINT NOT NULL, place BIGINT NOT NULL, trial TEXT NOT NULL,"
         " PRIMARY KEY (run, place))";
  sql << "CREATE TABLE IF NOT EXISTS measurements (trial TEXT NOT NULL, number BIGINT NOT NULL, line TEXT NOT NULL,"
         " name TEXT NOT NULL, length BIGINT NOT NULL, place BIGINT NOT NULL, value DOUBLE PRECISION,"
         " PRIMARY KEY (trial, number))";
}

void Store::Session::explain(const soci::soci_error& error) const {
  locus::fail("the store ", name, ": ", error.get_error_message());
}

Store::Session::Transaction::Transaction(soci::session& sql) : sql_(sql) { sql_ << "BEGIN IMMEDIATE"; }

Store::Session::Transaction::~Transaction() {
  if (!open_) return;
  try {
    sql_ << "ROLLBACK";
  } catch (const soci::soci_error&) {  // already rolled back by what failed
  }
}

void Store::Session::Transaction::commit() {
  sql_ << "COMMIT";
  open_ = false;
}

}  // namespace locus::lab
