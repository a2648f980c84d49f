// SPDX-License-Identifier: Apache-2.0
// One connection to the store's database, and everything that is specific to SQLite.
#pragma once

#include <soci/soci.h>

#include <string>

#include "run/store.h"

namespace locus::lab {

struct Store::Session {
  explicit Session(const std::string& url);

  std::string name;  ///< for messages
  soci::session sql;

  /// Calls `work` and rethrows the database's errors as locus::Error.
  template <class Work>
  auto guarded(const Work& work) {
    try {
      return work();
    } catch (const soci::soci_error& error) {
      explain(error);
    }
  }
  /// Calls `work` in a transaction that holds the write lock from its start, so that nothing changes between its reads
  /// and its writes. Rolled back if `work` throws.
  template <class Work>
  auto in_transaction(const Work& work) {
    return guarded([&] {
      Transaction transaction(sql);
      auto result = work();
      transaction.commit();
      return result;
    });
  }

 private:
  class Transaction {
   public:
    explicit Transaction(soci::session& sql);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

   private:
    soci::session& sql_;
    bool open_ = true;
  };

  [[noreturn]] void explain(const soci::soci_error& error) const;
  void require_lab_store();
  void make_tables();
};

}  // namespace locus::lab
