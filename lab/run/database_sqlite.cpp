// SPDX-License-Identifier: Apache-2.0
// SOCI includes sqlite3.h inside a namespace, so this file must be the first to include it.
#include <soci/sqlite3/soci-sqlite3.h>

#include <filesystem>

#include "locus/error.h"
#include "run/database.h"
#include "run/store_tables.h"

namespace locus::lab {
namespace {

constexpr int our_application = 0x4c6f634c;  // "LocL", in the file's header
constexpr int busy_seconds = 60;             // how long to wait for another process's transaction

class SqliteDatabase : public Database {
 public:
  explicit SqliteDatabase(std::string path) : path_(std::move(path)) {}

  const std::string& name() const override { return path_; }
  bool is_shared() const override { return false; }

  bool exists() const override { return std::filesystem::exists(path_); }

  void open(soci::session& sql) const override {
    sql.open(soci::sqlite3, "dbname=\"" + path_ + "\" timeout=" + std::to_string(busy_seconds));
    if (is_empty(sql)) create(sql);
    int application = 0;
    std::string state;
    sql << "PRAGMA application_id", soci::into(application);
    require(application == our_application, path_, " belongs to another program; it is not a store of the lab");
    require_known_version(path_, version_of(sql));
    if (version_of(sql) < store_version) migrate(sql);
    sql << "PRAGMA quick_check(1)", soci::into(state);
    require(state == "ok", "the store ", path_, " is damaged: ", state, "; remove it or name another --out");
    sql << "PRAGMA synchronous=NORMAL";  // with a write-ahead log, safe if the process is killed, and a heartbeat does not wait for the disk
  }

  /// Every transaction takes the write lock at its start: nothing changes between its reads and its writes.
  void begin(soci::session& sql, Locking) const override { sql << "BEGIN IMMEDIATE"; }

  std::string id(soci::session&) const override { return path_; }
  std::string clock() const override { return "((julianday('now') - 2440587.5) * 86400.0)"; }
  std::string lease_ran_out() const override { return "expires < " + clock(); }
  std::string claim_one_row() const override { return {}; }
  bool may_pass(const soci::soci_error&, soci::session&) const override { return false; }

 private:
  static bool is_empty(soci::session& sql) {
    int things = 0;
    sql << "SELECT COUNT(*) FROM sqlite_master", soci::into(things);
    return things == 0;
  }
  static int version_of(soci::session& sql) {
    int version = 0;
    sql << "PRAGMA user_version", soci::into(version);
    return version;
  }
  void create(soci::session& sql) const {
    try {
      sql << "PRAGMA journal_mode=WAL";
    } catch (const soci::soci_error&) {  // another process is creating this store; any other error occurs again below
    }
    begin(sql, Locking::exclusive);
    if (is_empty(sql)) {
      make_tables(sql);
      sql << "PRAGMA application_id=" << our_application;
      sql << "PRAGMA user_version=" << store_version;
    }
    sql << "COMMIT";
  }
  void migrate(soci::session& sql) const {
    begin(sql, Locking::exclusive);
    const int version = version_of(sql);  // another process may have done it meanwhile
    if (version < store_version) {
      migrate_tables(sql, version);
      sql << "PRAGMA user_version=" << store_version;
    }
    sql << "COMMIT";
  }

  std::string path_;
};

}  // namespace

std::unique_ptr<Database> sqlite_database(const std::string& path) {
  require(path.find('"') == std::string::npos, "the store's file name must not contain a quotation mark, got ", path);
  return std::make_unique<SqliteDatabase>(path);
}

}  // namespace locus::lab
