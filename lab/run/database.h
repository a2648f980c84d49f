// SPDX-License-Identifier: Apache-2.0
// The differences between the databases that can hold a store.
#pragma once

#include <soci/soci.h>

#include <memory>
#include <string>

namespace locus::lab {

/// How a transaction locks. `exclusive`: no other transaction of that kind runs at the same time.
enum class Locking { rows, exclusive };

class Database {
 public:
  virtual ~Database() = default;

  virtual const std::string& name() const = 0;  ///< for messages: without a password
  virtual bool is_shared() const = 0;           ///< other machines may use it
  /// Returns whether there is a store, whatever its state. Creates nothing.
  virtual bool exists() const = 0;
  /// Connects, and creates or migrates the tables. Error: the store belongs to another program or a newer version.
  /// soci_error: the database fails.
  virtual void open(soci::session& sql) const = 0;
  virtual void begin(soci::session& sql, Locking locking) const = 0;
  virtual std::string id(soci::session& sql) const = 0;  ///< of the store

  // Parts of statements:
  virtual std::string clock() const = 0;          ///< seconds since 1970, the same for all machines
  virtual std::string lease_ran_out() const = 0;  ///< a condition on a row of trials
  virtual std::string claim_one_row() const = 0;  ///< after a SELECT of trials t: locks the row, skips locked ones

  /// Returns whether a retry may help: the connection is lost, or the database is out of space.
  virtual bool may_pass(const soci::soci_error& error, soci::session& sql) const = 0;
};

std::unique_ptr<Database> sqlite_database(const std::string& path);
std::unique_ptr<Database> postgresql_database(const std::string& url);

/// Opens a database by its URL. Error: neither "sqlite:PATH" nor "postgresql://...".
std::unique_ptr<Database> find_database(const std::string& url);

}  // namespace locus::lab
