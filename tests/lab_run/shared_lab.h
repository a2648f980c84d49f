// SPDX-License-Identifier: Apache-2.0
// Several "machines" on one store: processes of `locus lab work`, each in a separate folder, which tests kill.
#pragma once

#include <map>
#include <set>

#include "lab_run/lab_process.h"
#include "lab_run/postgres_server.h"

namespace locus::lab::testing {

class SharedLab : public LabProcess {
 public:
  SharedLab(std::string program, std::string url) : LabProcess(std::move(program)), url_(std::move(url)) {}
  ~SharedLab() {
    for (const auto& [machine, process] : machines_) {
      kill(process, SIGKILL);
      wait_for(process);
    }
  }

  locus::testing::CommandResult on_store(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--store", url_});
    return lab(arguments);
  }
  void start_machine(const std::string& machine, const std::string& lease = "3",
                     const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"work", "--store", url_, "--out", machine, "--workers", "1", "--lease", lease};
    words.insert(words.end(), more.begin(), more.end());
    machines_[machine] = start(words);
  }
  void kill_machine(const std::string& machine) {
    kill(machines_.at(machine), SIGKILL);
    wait_for_machine(machine);
  }
  /// Its wait status.
  int wait_for_machine(const std::string& machine) {
    const int status = wait_for(machines_.at(machine));
    machines_.erase(machine);
    return status;
  }
  void wait_for_all() {
    while (!machines_.empty()) {
      const std::string machine = machines_.begin()->first;
      EXPECT_EQ(wait_for_machine(machine), 0) << machine << ": " << folder_.read(machine + "/workers.log");
    }
  }

  std::vector<StoredTrial> shared_trials(std::int64_t run = 0) const {
    Patience patience;
    patience.seconds = 120;
    Store store(url_, patience);
    const auto last = store.latest_run();
    return last ? store.trials(run == 0 ? last->id : run) : std::vector<StoredTrial>();
  }
  std::size_t count(TrialState state) const {
    const std::vector<StoredTrial> all = shared_trials();
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const StoredTrial& one) { return one.state == state; }));
  }
  /// Waits until `condition` holds; minutes, if the machine is busy.
  template <class Condition>
  void wait_until(const std::string& what, const Condition& condition) const {
    for (int i = 0; i < 4800; ++i) {
      if (condition()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ADD_FAILURE() << "waited four minutes until " << what << '\n' << lab({"status", "--store", url_}).out;
  }
  void wait_until_finished(std::size_t trials) const {
    wait_until(std::to_string(trials) + " trials are finished", [&] { return count(TrialState::finished) >= trials; });
  }
  /// The process of a worker that holds a lease.
  pid_t a_busy_worker() const {
    pid_t found = -1;
    wait_until("a worker is busy", [&] {
      for (const StoredTrial& trial : shared_trials()) {
        if (trial.state == TrialState::leased && !is_gone(trial.owner)) found = process_of(trial.owner);
      }
      return found > 0;
    });
    return found;
  }
  static pid_t process_of(const std::string& owner) {
    const std::size_t start = owner.rfind('/');
    return static_cast<pid_t>(std::stol(owner.substr(owner.rfind('/', start - 1) + 1)));
  }
  const std::string& url() const { return url_; }

 private:
  std::string url_;
  std::map<std::string, pid_t> machines_;
};

/// Notes every trial that becomes finished, in the transaction that finishes it: an account that the lab does not keep.
inline void keep_account(const PostgresServer& server) {
  server.sql(
      "CREATE TABLE locus_lab.account (trial TEXT);"
      "CREATE FUNCTION locus_lab.note() RETURNS trigger LANGUAGE plpgsql AS"
      " $$ BEGIN INSERT INTO locus_lab.account VALUES (NEW.trial); RETURN NEW; END $$;"
      "CREATE TRIGGER note AFTER UPDATE ON locus_lab.trials FOR EACH ROW"
      " WHEN (NEW.state = 'finished' AND OLD.state <> 'finished') EXECUTE FUNCTION locus_lab.note()");
}

/// "finishes|trials" of that account.
inline std::string account(const PostgresServer& server) {
  return server.sql("SELECT COUNT(*), COUNT(DISTINCT trial) FROM locus_lab.account");
}

}  // namespace locus::lab::testing
