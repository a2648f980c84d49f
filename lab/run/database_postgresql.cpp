// SPDX-License-Identifier: Apache-2.0
#ifdef LOCUS_WITH_POSTGRESQL
#include <soci/postgresql/soci-postgresql.h>
#endif

#include <array>
#include <string_view>

#include "locus/error.h"
#include "run/database.h"
#include "run/store_tables.h"
#include "run/store_url.h"

namespace locus::lab {

#ifndef LOCUS_WITH_POSTGRESQL

std::unique_ptr<Database> postgresql_database(const std::string& url) {
  fail("this lab was built without PostgreSQL (libsoci-dev, libpq-dev), so it cannot open ", without_password(url));
}

#else

namespace {

using soci::into;

/// Adds time limits to the URL, unless it has them: libpq's default is to wait for ever; here nothing waits longer than
/// a minute.
constexpr std::array<std::string_view, 5> limits = {"connect_timeout=10", "tcp_user_timeout=30000",
                                                    "keepalives_idle=20", "keepalives_interval=10",
                                                    "application_name=locus-lab"};

std::string with_limits(const std::string& url) {
  std::string result = url;
  char before = url.find('?') == std::string::npos ? '?' : '&';
  for (const std::string_view setting : limits) {
    if (url.find(setting.substr(0, setting.find('=') + 1)) != std::string::npos) continue;
    result += before;
    result += setting;
    before = '&';
  }
  return result;
}

/// The tables are in a separate schema, locus_lab: other programs may use the database.
class PostgresqlDatabase : public Database {
 public:
  explicit PostgresqlDatabase(const std::string& url) : url_(with_limits(url)), name_(without_password(url)) {}

  const std::string& name() const override { return name_; }
  bool is_shared() const override { return true; }

  bool exists() const override {
    soci::session sql(soci::postgresql, url_);
    return has_schema(sql);
  }

  void open(soci::session& sql) const override {
    sql.open(soci::postgresql, url_);
    sql << "SET client_min_messages = warning";
    sql << "SET lock_timeout = '60s'";
    sql << "SET idle_in_transaction_session_timeout = '30s'";  // a stopped worker must not keep its row locked
    if (!has_schema(sql)) create(sql);
    sql << "SET search_path TO locus_lab";
    require(has_our_table(sql), "the schema locus_lab of ", name_,
            " belongs to another program; it is not a store of the lab");
    require_known_version(name_, version_of(sql));
    if (version_of(sql) < store_version) migrate(sql);
  }

  void begin(soci::session& sql, Locking locking) const override {
    sql << "BEGIN";
    if (locking == Locking::exclusive) sql << "SELECT pg_advisory_xact_lock(1281573708)";
  }

  std::string id(soci::session& sql) const override {
    std::string id;
    sql << "SELECT id FROM locus_lab.store", into(id);
    return id;
  }

  std::string clock() const override { return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)"; }
  /// After a restart of the database, every lease starts anew: no worker could renew it meanwhile.
  std::string lease_ran_out() const override {
    return "GREATEST(expires, CAST(EXTRACT(EPOCH FROM pg_postmaster_start_time()) AS DOUBLE PRECISION) + expires"
           " - heartbeat) < " +
           clock();
  }
  std::string claim_one_row() const override { return " FOR UPDATE OF t SKIP LOCKED"; }

  bool may_pass(const soci::soci_error& error, soci::session& sql) const override {
    if (!sql.is_connected()) return true;
    const auto* own = dynamic_cast<const soci::postgresql_soci_error*>(&error);
    if (own == nullptr) return false;
    // Connection exceptions, deadlocks, lack of resources (disk, memory, connections), lock time-outs, a server that
    // stops or starts.
    const std::string state = own->sqlstate();
    return state.starts_with("08") || state.starts_with("40") || state.starts_with("53") || state == "55P03" ||
           state.starts_with("57P0");
  }

 private:
  static bool has_schema(soci::session& sql) {
    int count = 0;
    sql << "SELECT COUNT(*) FROM pg_namespace WHERE nspname = 'locus_lab'", into(count);
    return count > 0;
  }
  static bool has_our_table(soci::session& sql) {
    int count = 0;  // from the catalogue, which every user may read
    sql << "SELECT COUNT(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
           " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'locus_lab' AND c.relname = 'store'"
           " AND a.attname IN ('program', 'version', 'id')",
        into(count);
    if (count != 3) return false;
    std::string own;
    sql << "SELECT COALESCE(MAX(program), '') FROM locus_lab.store", into(own);
    return own == "locus-lab";
  }
  static long long version_of(soci::session& sql) {
    long long version = 0;
    sql << "SELECT version FROM locus_lab.store", into(version);
    return version;
  }
  // An error in one of these closes the connection, which rolls the transaction back.
  void create(soci::session& sql) const {
    begin(sql, Locking::exclusive);
    if (!has_schema(sql)) {  // another process may have created it meanwhile
      sql << "CREATE SCHEMA locus_lab";
      sql << "SET search_path TO locus_lab";
      sql << "CREATE TABLE store (program TEXT NOT NULL, version BIGINT NOT NULL, id TEXT NOT NULL)";
      sql << "INSERT INTO store VALUES ('locus-lab', " << store_version << ", gen_random_uuid())";
      make_tables(sql);
    }
    sql << "COMMIT";
  }
  void migrate(soci::session& sql) const {
    begin(sql, Locking::exclusive);
    const long long version = version_of(sql);
    if (version < store_version) {
      migrate_tables(sql, static_cast<int>(version));
      sql << "UPDATE store SET version = " << store_version;
    }
    sql << "COMMIT";
  }

  std::string url_, name_;
};

}  // namespace

std::unique_ptr<Database> postgresql_database(const std::string& url) {
  return std::make_unique<PostgresqlDatabase>(url);
}

#endif

}  // namespace locus::lab
