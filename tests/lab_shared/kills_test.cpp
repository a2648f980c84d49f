// SPDX-License-Identifier: Apache-2.0
// Slow: eight machines, 200 trials, and 40 kills at random moments on a real PostgreSQL.
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "lab_run/shared_lab.h"

namespace locus::lab {
namespace {

using testing::PostgresServer;
using testing::SharedLab;

const std::vector<std::string> trials = {"--preset", "quick", "--tasks",   "back",
                                         "--seeds",  "50",    "--schemes", "nope:long,rope:long,alibi:long,t5:long"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Kills, EveryTrialIsFinishedOnce) {
  LOCUS_NEED_POSTGRESQL();
  constexpr int kills = 40, machines = 8;
  PostgresServer server;
  SharedLab lab(LOCUS_FAKE_LAB, server.url());
  std::vector<pid_t> submits;  // two at once
  for (int i = 0; i < 2; ++i) submits.push_back(lab.start(with({"submit", "--store", server.url()}, trials)));
  for (const pid_t submit : submits) ASSERT_EQ(SharedLab::wait_for(submit), 0);
  ASSERT_EQ(lab.shared_trials().size(), 200u);
  keep_account(server);
  const auto name = [](int machine) { return "machine-" + std::to_string(machine); };
  for (int i = 0; i < machines; ++i) lab.start_machine(name(i));

  std::mt19937 random(1);
  const auto any = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  for (int done = 0; done < kills; ++done) {
    // Spread over the run: the next one comes after some trials and a random part of a trial.
    lab.wait_until_finished(static_cast<std::size_t>(4 * done + 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(any(800)));
    const int what = done % 10;
    if (what == 9) {  // the database, in turns politely and not
      server.stop(done % 20 == 9 ? SIGKILL : SIGINT);
      std::this_thread::sleep_for(std::chrono::milliseconds(any(2000)));
      server.start();
    } else if (what == 8) {  // all connections
      server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'locus-lab'");
    } else if (what % 2 == 0) {
      const std::string machine = name(any(machines));
      lab.kill_machine(machine);
      lab.start_machine(machine);
    } else {
      kill(lab.a_busy_worker(), SIGKILL);
    }
  }
  // A lost lease: a worker stands still until another one has its trial.
  const pid_t late = lab.a_busy_worker();
  kill(late, SIGSTOP);
  lab.wait_until("the trial of a stopped worker has gone to another", [&] {
    for (const StoredTrial& trial : lab.shared_trials()) {
      if (trial.state == TrialState::leased && SharedLab::process_of(trial.owner) == late) return false;
    }
    return true;
  });
  kill(late, SIGCONT);
  lab.wait_for_all();

  EXPECT_EQ(account(server), "200|200");
  std::int64_t losses = 0;
  for (const StoredTrial& trial : lab.shared_trials()) losses += trial.losses;
  std::cout << "leases lost: " << losses << '\n';
  EXPECT_GT(losses, 0);
  EXPECT_EQ(lab.on_store({"results", "--out", "shared"}).exit_code, 0);
  EXPECT_EQ(lab.lab(with(trials, {"--out", "quiet", "--workers", "40"})).exit_code, 0);
  EXPECT_EQ(lab.results("shared"), lab.results("quiet"));
}

}  // namespace
}  // namespace locus::lab
