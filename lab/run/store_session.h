// SPDX-License-Identifier: Apache-2.0
// One connection to the store's database: waits for an unreachable database, and runs statements.
#pragma once

#include <soci/soci.h>

#include <string>

#include "run/database.h"
#include "run/store.h"

namespace locus::lab {

/// Returns the database's message as one line.
std::string message_of(const soci::soci_error& error);

struct Store::Session {
  Session(const std::string& url, Patience how_to_wait);

  std::unique_ptr<Database> database;
  soci::session sql;
  Patience patience;

  /// Calls `work` and rethrows the database's errors as locus::Error. If a retry may help, reconnects and calls
  /// `work` again, as long as the patience allows.
  template <class Work>
  auto guarded(const Work& work) {
    for (Outage outage(*this);; outage.wait()) {
      try {
        connect_again();
        auto result = work();
        outage.end();
        return result;
      } catch (const soci::soci_error& error) {
        outage.note(error);
      }
    }
  }
  /// Calls `work` in a transaction, which is rolled back if `work` throws.
  template <class Work>
  auto in_transaction(Locking locking, const Work& work) {
    return guarded([&] {
      Transaction transaction(*this, locking);
      auto result = work();
      transaction.commit();
      return result;
    });
  }
  template <class Work>
  auto in_transaction(const Work& work) {
    return in_transaction(Locking::rows, work);
  }

  /// Runs a statement that changes rows and returns their number; `values` fill its placeholders.
  template <class... Values>
  long long change(const std::string& text, const Values&... values) {
    soci::statement statement(sql);
    (statement.exchange(soci::use(values)), ...);
    statement.alloc();
    statement.prepare(text);
    statement.define_and_bind();
    statement.execute(true);
    return statement.get_affected_rows();
  }

  void add_trial(const TrialSpec& spec, bool restart);  ///< in a transaction

 private:
  class Transaction {
   public:
    Transaction(Session& session, Locking locking);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

   private:
    void roll_back();
    soci::session& sql_;
    bool open_ = true;
  };

  /// Lasts from the first error of a call to its success, or to the end of the patience.
  class Outage {
   public:
    explicit Outage(Session& session) : session_(session) {}
    void note(const soci::soci_error& error);  ///< throws if waiting does not help
    void wait();
    void end();

   private:
    Session& session_;
    double begin_ = 0;
    std::string why_;
  };

  void connect_again();
};

}  // namespace locus::lab
