// SPDX-License-Identifier: Apache-2.0
// One connection to the store's database, and all that is special about the kind of database it is.
#pragma once

#include <soci/soci.h>

#include <string>

#include "run/store.h"

namespace locus::lab {

struct Store::Session {
  explicit Session(const std::string& url);

  std::string name;  ///< for messages
  soci::session sql;

  /// Calls `work` and turns the database's errors into locus::Error.
  template <class Work>
  auto guarded(const Work& work) {
    try {
      return work();
    } catch (const soci::soci_error& error) {
      explain(error);
    }
  }
  /// Calls `work` in a transaction that holds the right to write from its start, so that nothing can come between what
  /// it reads and what it writes; taken back if `work` throws.
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
  void make_sure_it_is_ours();
  void make_tables();
};

}  // namespace locus::lab
