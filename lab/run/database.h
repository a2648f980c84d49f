// SPDX-License-Identifier: Apache-2.0
// What differs between the databases that can hold a store.
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
  /// Whether there is a store, whatever its state. Creates nothing.
  virtual bool exists() const = 0;
  /// Connects, and makes sure that this is a store of the lab: creates or migrates its tables. Error if it belongs to
  /// another program or a newer version; soci_error if the database fails.
  virtual void open(soci::session& sql) const = 0;
  virtual void begin(soci::session& sql, Locking locking) const = 0;
  virtual std::string id(soci::session& sql) const = 0;  ///< of the store

  // Parts of statements:
  virtual std::string clock() const = 0;          ///< seconds since 1970, the same for all machines
  virtual std::string lease_ran_out() const = 0;  ///< a condition on a row of trials
  virtual std::string claim_one_row() const = 0;  ///< after a SELECT of trials t: locks the row, skips locked ones

  /// The error is not about the statement: the connection is lost, or the database has no room. Trying again may help.
  virtual bool may_pass(const soci::soci_error& error, soci::session& sql) const = 0;
};

std::unique_ptr<Database> sqlite_database(const std::string& path);
std::unique_ptr<Database> postgresql_database(const std::string& url);

/// By its URL. Error for one that is neither "sqlite:PATH" nor "postgresql://...".
std::unique_ptr<Database> find_database(const std::string& url);

}  // namespace locus::lab
