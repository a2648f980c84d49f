// SPDX-License-Identifier: Apache-2.0
#include "run/store_session.h"

#include <chrono>
#include <thread>

#include "run/clock.h"

namespace locus::lab {
namespace {

constexpr std::chrono::milliseconds pause_between_attempts(500);

}  // namespace

std::string message_of(const soci::soci_error& error) {
  std::string text = error.get_error_message();
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& c : text) c = c == '\n' || c == '\t' ? ' ' : c;
  return text;
}

Store::Session::Session(const std::string& url, Patience how_to_wait)
    : database(find_database(url)), patience(std::move(how_to_wait)) {
  try {
    guarded([] { return true; });
  } catch (const StoreAway& error) {
    if (patience.seconds > 0) throw;
    throw Error(error.what());  // it was never reachable
  }
}

void Store::Session::connect_again() {
  if (sql.is_connected()) return;
  sql.close();
  try {
    database->open(sql);
  } catch (...) {
    sql.close();  // it may be half open
    throw;
  }
}

void Store::Session::Outage::note(const soci::soci_error& error) {
  why_ = message_of(error);
  const std::string text = "the store " + session_.database->name() + ": " + why_;
  if (!session_.database->may_pass(error, session_.sql)) throw Error(text);
  if (session_.patience.seconds <= 0) throw StoreAway(text);
  if (begin_ == 0) {
    begin_ = lab::now();
    if (session_.patience.away) session_.patience.away(text);
  }
}

void Store::Session::Outage::wait() {
  const Patience& patience = session_.patience;
  if (lab::now() - begin_ > patience.seconds || (patience.stop && patience.stop())) {
    throw StoreAway("the store " + session_.database->name() + " could not be reached for " +
                    std::to_string(static_cast<long long>(lab::now() - begin_)) + " s: " + why_);
  }
  std::this_thread::sleep_for(pause_between_attempts);
}

void Store::Session::Outage::end() {
  if (begin_ > 0 && session_.patience.back) session_.patience.back(lab::now() - begin_);
}

Store::Session::Transaction::Transaction(Session& session, Locking locking) : sql_(session.sql) {
  try {
    session.database->begin(sql_, locking);
  } catch (...) {
    roll_back();
    throw;
  }
}

Store::Session::Transaction::~Transaction() {
  if (open_) roll_back();
}

void Store::Session::Transaction::roll_back() {
  try {
    if (sql_.is_connected()) sql_ << "ROLLBACK";
  } catch (const soci::soci_error&) {  // already rolled back
  }
}

void Store::Session::Transaction::commit() {
  sql_ << "COMMIT";
  open_ = false;
}

}  // namespace locus::lab
