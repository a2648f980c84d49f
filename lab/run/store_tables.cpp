// SPDX-License-Identifier: Apache-2.0
#include "run/store_tables.h"

#include <array>

#include "locus/error.h"

namespace locus::lab {
namespace {

/// Columns of trials that version 2 added: the fencing number, when the lease expires, how many were lost, the kind of
/// machine, and the trial that is repeated.
constexpr std::array<const char*, 5> added_in_2 = {
    "fence BIGINT NOT NULL DEFAULT 0", "expires DOUBLE PRECISION NOT NULL DEFAULT 0",
    "losses BIGINT NOT NULL DEFAULT 0", "kind TEXT NOT NULL DEFAULT ''", "repeats TEXT NOT NULL DEFAULT ''"};

}  // namespace

// `place` orders the trials of a run (repeats come before, with places below 0), and is depth, bucket or step of a
// measurement. Values that are not finite are null.
void make_tables(soci::session& sql) {
  sql << "CREATE TABLE IF NOT EXISTS runs (id BIGINT PRIMARY KEY, created TEXT NOT NULL, finished TEXT NOT NULL,"
         " header TEXT NOT NULL)";
  std::string trials =
      "CREATE TABLE IF NOT EXISTS trials (trial TEXT PRIMARY KEY, spec TEXT NOT NULL, state TEXT NOT NULL,"
      " owner TEXT NOT NULL, started DOUBLE PRECISION NOT NULL, heartbeat DOUBLE PRECISION NOT NULL,"
      " done DOUBLE PRECISION NOT NULL, seconds DOUBLE PRECISION NOT NULL, crashes BIGINT NOT NULL,"
      " error TEXT NOT NULL";
  for (const char* column : added_in_2) trials += std::string(", ") + column;
  sql << trials + ")";
  sql << "CREATE TABLE IF NOT EXISTS run_trials (run BIGINT NOT NULL, place BIGINT NOT NULL, trial TEXT NOT NULL,"
         " PRIMARY KEY (run, place))";
  sql << "CREATE TABLE IF NOT EXISTS measurements (trial TEXT NOT NULL, number BIGINT NOT NULL, line TEXT NOT NULL,"
         " name TEXT NOT NULL, length BIGINT NOT NULL, place BIGINT NOT NULL, value DOUBLE PRECISION,"
         " PRIMARY KEY (trial, number))";
}

void migrate_tables(soci::session& sql, int version) {
  if (version < 2) {
    for (const char* column : added_in_2) sql << std::string("ALTER TABLE trials ADD COLUMN ") + column;
  }
}

void require_known_version(const std::string& name, long long version) {
  require(version >= 1 && version <= store_version, name, " is a store of version ", version,
          "; this lab reads versions up to ", store_version, ": use a newer Locus");
}

}  // namespace locus::lab
