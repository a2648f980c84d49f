// SPDX-License-Identifier: Apache-2.0
// Several machines on one store. What holds for any store is tested on SQLite, which needs no server; what is about the
// server is tested on PostgreSQL. The mistakes of other tools that have a test here are named.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/mount.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "lab_run/fake_parts.h"
#include "lab_run/shared_lab.h"
#include "run/clock.h"
#include "run/plan.h"
#include "run/slurm.h"
#include "run/status.h"

namespace locus::lab {
namespace {

using locus::testing::CommandResult;
using locus::testing::TemporaryFolder;
using testing::PostgresServer;
using testing::SharedLab;

const std::vector<std::string> some = {"--preset", "quick", "--tasks", "back", "--seeds", "1", "--schemes"};

std::vector<std::string> plan_of(const std::string& first, const std::string& schemes) {
  std::vector<std::string> words = {first};
  words.insert(words.end(), some.begin(), some.end());
  words.push_back(schemes);
  return words;
}

class SharedTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  SharedLab lab_{LOCUS_FAKE_LAB, "sqlite:" + (folder_ / "store.sqlite").string()};
};

bool says(const CommandResult& result, const std::string& words) {
  return (result.out + result.err).find(words) != std::string::npos;
}

// ---- leases

// optuna#4234, optuna#3198: a trial that is busy for longer than the lease is not failed, nor run twice.
TEST_F(SharedTest, ABusyWorkerIsNotTakenForDead) {
  ASSERT_EQ(lab_.on_store(plan_of("submit", "rope:busy")).exit_code, 0);
  lab_.start_machine("a", "2");
  lab_.a_busy_worker();
  lab_.start_machine("b", "2");  // looks for leases that ran out
  lab_.wait_for_all();
  const StoredTrial trial = lab_.shared_trials().front();
  EXPECT_EQ(trial.state, TrialState::finished);
  EXPECT_EQ(trial.losses, 0);
  EXPECT_EQ(trial.fence, 1);
}

// A stopped worker loses its trial; its late result is discarded without an error.
TEST_F(SharedTest, ALateWorkerIsNoError) {
  ASSERT_EQ(lab_.on_store(plan_of("submit", "rope:long")).exit_code, 0);
  lab_.start_machine("a", "1");
  const pid_t late = lab_.a_busy_worker();
  kill(late, SIGSTOP);
  lab_.start_machine("b", "1");
  lab_.wait_until("another worker has the trial", [&] { return lab_.shared_trials().front().fence >= 2; });
  kill(late, SIGCONT);
  lab_.wait_for_all();
  const StoredTrial trial = lab_.shared_trials().front();
  EXPECT_EQ(trial.state, TrialState::finished);
  EXPECT_GE(trial.losses, 1);
  EXPECT_EQ(trial.crashes, 0);
  EXPECT_EQ(Store(lab_.url()).measurements(trial.key).size(), 2 + trial.spec.lengths.size());
}

// ray#5036: a trial whose node died is shown as lost and runs elsewhere.
TEST_F(SharedTest, ATrialOfADeadNodeRunsElsewhere) {
  ASSERT_EQ(lab_.on_store(plan_of("submit", "rope")).exit_code, 0);
  Store store(lab_.url());
  ASSERT_TRUE(store.lease(0, {.owner = "dead-node/1/1/1", .seconds = 0.2}));
  EXPECT_EQ(status_of(store)["runs"][0]["running"][0]["host"], "dead-node");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(status_of(store)["runs"][0]["running"][0]["lost"].get<bool>());
  EXPECT_TRUE(says(lab_.on_store({"status"}), "lost; the next worker takes it"));
  EXPECT_EQ(lab_.on_store({"work", "--out", "a"}).exit_code, 0);
  EXPECT_EQ(lab_.shared_trials().front().state, TrialState::finished);
  EXPECT_TRUE(says(lab_.on_store({"status"}), "1 of 1 trials finished"));
}

TEST_F(SharedTest, AcceptsALateResultOnce) {
  PlanRequest request{.preset = "quick", .tasks = {"back"}};
  Store store(lab_.url());
  const std::int64_t run = store.begin_run(Json::object(), make_plan(request).trials, false);
  const std::vector<Measurement> numbers = {{"nope", "accuracy", 32, -1, 1.5}};
  const auto late = store.lease(run, {.owner = "elsewhere/1/1/1", .seconds = 0.01});
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(store.release_stale(run), 1);
  EXPECT_EQ(store.trials(run)[0].state, TrialState::waiting);
  EXPECT_TRUE(store.finish(*late, 1, numbers));  // no other worker had the trial
  EXPECT_TRUE(store.finish(*late, 2, numbers));  // the answer to the first one was lost on the way
  EXPECT_EQ(store.trials(run)[0].seconds, 1);
  EXPECT_EQ(store.measurements(late->key).size(), 1u);
  // A trial that is run again does not take what was measured before.
  EXPECT_TRUE(store.forget(late->key));
  EXPECT_FALSE(store.finish(*late, 3, numbers));
  EXPECT_FALSE(store.keep(*late, 0.5));
  EXPECT_EQ(store.trials(run)[0].state, TrialState::waiting);
}

TEST_F(SharedTest, GivesUpATrialThatLosesEveryWorker) {
  ASSERT_EQ(lab_.on_store(plan_of("submit", "rope")).exit_code, 0);
  Store store(lab_.url());
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(store.lease(0, {.owner = "a"})) << i;
    store.lost("a", "signal 9");
  }
  EXPECT_FALSE(store.lease(0, {.owner = "a"}));
  EXPECT_EQ(lab_.shared_trials().front().state, TrialState::failed);
}

// ---- starting, stopping, continuing

// optuna#820, optuna#4994: many processes that create and fill the same store at once.
TEST_F(SharedTest, ManyProcessesStartAtOnce) {
  constexpr int many = 12;
  std::vector<pid_t> started;
  for (int i = 0; i < many; ++i) {
    std::vector<std::string> words = plan_of("submit", "nope,rope,alibi");
    words.insert(words.end(), {"--store", lab_.url()});
    started.push_back(lab_.start(words));
  }
  for (const pid_t process : started) EXPECT_EQ(SharedLab::wait_for(process), 0);
  Store store(lab_.url());
  EXPECT_EQ(store.latest_run()->id, many);
  EXPECT_EQ(store.queue(0, "").waiting, 3);  // every trial once
}

// hydra#3328: a sweep continues where it was, whoever was killed.
TEST_F(SharedTest, ASweepContinues) {
  ASSERT_EQ(lab_.on_store(plan_of("submit", "nope,rope:slow,alibi:slow,t5:slow")).exit_code, 0);
  lab_.start_machine("a");
  lab_.wait_until_finished(2);
  lab_.kill_machine("a");
  const std::vector<StoredTrial> before = lab_.shared_trials();
  EXPECT_EQ(lab_.on_store({"work", "--out", "b"}).exit_code, 0);
  const std::vector<StoredTrial> after = lab_.shared_trials();
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].state, TrialState::finished);
    if (before[i].state == TrialState::finished) {
      EXPECT_EQ(after[i].fence, before[i].fence) << "run again";
    }
  }
  Store store(lab_.url());
  EXPECT_NE(store.latest_run()->finished, "");
}

TEST_F(SharedTest, StopsAtItsTimeAndReturnsWhatItHas) {
  ASSERT_EQ(lab_.on_store(plan_of("submit", "rope:long,alibi:long")).exit_code, 0);
  const CommandResult result = lab_.on_store({"work", "--out", "a", "--workers", "2", "--until", "1s"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(lab_.count(TrialState::waiting), 2u);
  EXPECT_EQ(end_time("2h", 100), 7300);
  EXPECT_EQ(end_time("2025-03-01T12:00:00Z", 0), 1740830400);
  for (const char* wrong : {"", "h", "2", "2 h", "-2h", "tomorrow"}) EXPECT_THROW(end_time(wrong, 0), Error) << wrong;
}

TEST_F(SharedTest, BringsAnOldStoreUpToDate) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ / "store.sqlite").c_str(), &database), SQLITE_OK);
  const char* const version_1 =
      "CREATE TABLE runs (id BIGINT PRIMARY KEY, created TEXT NOT NULL, finished TEXT NOT NULL, header TEXT NOT NULL);"
      "CREATE TABLE trials (trial TEXT PRIMARY KEY, spec TEXT NOT NULL, state TEXT NOT NULL, owner TEXT NOT NULL,"
      " started DOUBLE PRECISION NOT NULL, heartbeat DOUBLE PRECISION NOT NULL, done DOUBLE PRECISION NOT NULL,"
      " seconds DOUBLE PRECISION NOT NULL, crashes BIGINT NOT NULL, error TEXT NOT NULL);"
      "CREATE TABLE run_trials (run BIGINT NOT NULL, place BIGINT NOT NULL, trial TEXT NOT NULL, PRIMARY KEY (run, "
      "place));"
      "CREATE TABLE measurements (trial TEXT NOT NULL, number BIGINT NOT NULL, line TEXT NOT NULL, name TEXT NOT NULL,"
      " length BIGINT NOT NULL, place BIGINT NOT NULL, value DOUBLE PRECISION, PRIMARY KEY (trial, number));"
      "INSERT INTO runs VALUES (1, '2025-01-01T00:00:00Z', '', '{}');"
      "PRAGMA application_id = 1282368332; PRAGMA user_version = 1;";
  ASSERT_EQ(sqlite3_exec(database, version_1, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  EXPECT_EQ(lab_.on_store(plan_of("submit", "rope")).exit_code, 0);
  EXPECT_EQ(lab_.on_store({"work", "--out", "a"}).exit_code, 0);
  EXPECT_EQ(lab_.shared_trials().front().state, TrialState::finished);
  EXPECT_EQ(Store(lab_.url()).find_run(1).created, "2025-01-01T00:00:00Z");
  ASSERT_EQ(sqlite3_open((folder_ / "store.sqlite").c_str(), &database), SQLITE_OK);
  sqlite3_exec(database, "PRAGMA user_version = 77", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  const CommandResult refused = lab_.on_store({"status"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(says(refused, "version 77")) << refused.err;
}

// ---- machines that differ

TEST_F(SharedTest, RepeatsOneTrialPerKindOfMachine) {
  const auto work_as = [&](const char* blas, const std::string& seeds) {
    setenv("LOCUS_FAKE_BLAS", blas, 1);
    std::vector<std::string> words = plan_of("submit", "rope:by_blas,alibi:by_blas");
    words.insert(words.end(), {"--seeds", seeds});
    words.erase(words.begin() + 5, words.begin() + 7);  // the seeds of plan_of
    EXPECT_EQ(lab_.on_store(words).exit_code, 0);
    EXPECT_EQ(lab_.on_store({"work", "--out", "a", "--workers", "1"}).exit_code, 0);
    unsetenv("LOCUS_FAKE_BLAS");
  };
  work_as("plain", "1");
  EXPECT_EQ(lab_.on_store({"results"}).exit_code, 0);
  EXPECT_TRUE(lab_.results()["repeats"].empty());
  work_as("fused", "2");
  work_as("third", "3");
  work_as("third", "3");
  const CommandResult summary = lab_.on_store({"results"});
  EXPECT_TRUE(says(summary, "blas plain")) << summary.out;
  const Json repeats = lab_.results()["repeats"];
  ASSERT_EQ(repeats.size(), 3u) << repeats;  // every pair of three kinds
  double expected = 0;                       // the accuracy is 2 - loss, and "fused" has a slope that is larger by 1e-6
  const TrialSpec spec = lab_.shared_trials().front().spec;
  for (const std::int64_t length : spec.lengths) {
    const double a = 2 - testing::fake_loss(0.5, 1, spec.trained_length, length);
    const double b = 2 - testing::fake_loss(0.5 + 1e-6, 1, spec.trained_length, length);
    expected = std::max(expected, std::abs(a - b) / std::max(std::abs(a), std::abs(b)));
  }
  EXPECT_GT(expected, 1e-6);
  for (const Json& one : repeats) {
    const bool differ = one["machines"].dump().find("fused") != std::string::npos;
    EXPECT_NEAR(one["largest_difference"], differ ? expected : 0, 1e-12) << one;
  }
}

// ---- Slurm

// lightning#15022: a requeued task keeps its array index, and with it its folder.
TEST(Slurm, ATaskFindsItsFolderAgain) {
  const TemporaryFolder folder;
  Request request;
  request.store = "postgresql://lab@server/it's";
  request.out = (folder / "my out").string();
  request.tasks = 32;
  folder.write("program", "#!/bin/sh\nfor word; do echo \"<$word>\"; done\n");
  folder.write("job", slurm_script(request, (folder / "program").string()));
  std::filesystem::permissions(folder / "program", std::filesystem::perms::owner_all);
  EXPECT_NE(folder.read("job").find("--array=0-31"), std::string::npos);
  setenv("SLURM_ARRAY_TASK_ID", "7", 1);
  for (const char* restarts : {"0", "1"}) {
    setenv("SLURM_RESTART_COUNT", restarts, 1);
    const CommandResult result = locus::testing::run_command("/bin/sh", {"job"}, folder.path());
    EXPECT_NE(result.out.find("<" + (folder / "my out/task-7").string() + ">"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("<postgresql://lab@server/it's>"), std::string::npos) << result.out;
  }
  unsetenv("SLURM_ARRAY_TASK_ID");
  unsetenv("SLURM_RESTART_COUNT");
}

// ---- PostgreSQL

TEST(Postgresql, FinishesEveryTrialOnceDespiteKills) {
  LOCUS_NEED_POSTGRESQL();
  PostgresServer server;
  SharedLab lab(LOCUS_FAKE_LAB, server.url());
  const std::vector<std::string> trials = {"--preset", "quick", "--tasks",   "back",
                                           "--seeds",  "5",     "--schemes", "nope:slow,rope:slow,alibi:slow,t5:slow"};
  std::vector<std::string> submit = trials, quiet = trials;
  submit.insert(submit.begin(), "submit");
  ASSERT_EQ(lab.on_store(submit).exit_code, 0);
  keep_account(server);
  for (const char* machine : {"a", "b", "c"}) lab.start_machine(machine);
  lab.wait_until_finished(3);
  kill(lab.a_busy_worker(), SIGKILL);
  lab.wait_until_finished(6);
  server.stop(SIGQUIT);
  server.start();
  lab.wait_until_finished(9);
  lab.kill_machine("b");
  lab.start_machine("b");
  lab.wait_until_finished(12);
  kill(lab.a_busy_worker(), SIGKILL);
  lab.wait_for_all();
  EXPECT_EQ(account(server), "20|20");
  EXPECT_EQ(lab.on_store({"results", "--out", "shared"}).exit_code, 0);
  quiet.insert(quiet.end(), {"--out", "quiet", "--workers", "10"});
  EXPECT_EQ(lab.lab(quiet).exit_code, 0);
  EXPECT_EQ(lab.results("shared"), lab.results("quiet"));
}

TEST(Postgresql, KeepsEveryBitOfNumbers) {
  LOCUS_NEED_POSTGRESQL();
  PostgresServer server;
  Store store(server.url());
  const std::int64_t run =
      store.begin_run({{"preset", "quick"}}, make_plan({.preset = "quick", .tasks = {"back"}}).trials, false);
  const auto trial = store.lease(run, {.owner = "a"});
  ASSERT_TRUE(trial);
  const std::vector<double> values = {0.1 + 0.2, 1.0 / 3, -2.5, 5e-324, 1.7976931348623157e308, 3};
  std::vector<Measurement> measured;
  for (const double value : values) measured.push_back({"it's; \"odd\"", "loss", 1LL << 40, 25, value});
  measured.push_back({"rope", "loss", 0, -1, std::nan("")});
  EXPECT_TRUE(store.finish(*trial, 1.5, measured));
  const std::vector<Measurement> back = Store(server.url()).measurements(trial->key);
  ASSERT_EQ(back.size(), measured.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(back[i].value, values[i]);
    EXPECT_EQ(back[i].length, 1LL << 40);
    EXPECT_EQ(back[i].line, measured[i].line);
  }
  EXPECT_TRUE(std::isnan(back.back().value));
  EXPECT_EQ(store.latest_run()->header, (Json{{"preset", "quick"}}));
  EXPECT_NEAR(store.now(), now(), 60);  // one machine, one clock
}

// A machine that dies while it waits for the database: the next worker there delivers the result.
TEST(Postgresql, KeepsAResultWhileTheDatabaseIsAway) {
  LOCUS_NEED_POSTGRESQL();
  PostgresServer server;
  SharedLab lab(LOCUS_FAKE_LAB, server.url());
  ASSERT_EQ(lab.on_store(plan_of("submit", "rope:slow")).exit_code, 0);
  lab.start_machine("a", "600");
  lab.a_busy_worker();
  server.stop(SIGQUIT);
  const auto kept = [&] {
    std::error_code missing;
    const std::filesystem::directory_iterator files(lab.folder() / "a/kept", missing);
    return std::count_if(begin(files), end(files), [](const auto& file) { return file.path().extension() == ".json"; });
  };
  lab.wait_until("a result is kept", [&] { return kept() == 1; });
  lab.kill_machine("a");
  server.start();
  EXPECT_EQ(lab.on_store({"work", "--out", "a"}).exit_code, 0);
  EXPECT_EQ(kept(), 0);
  const StoredTrial trial = lab.shared_trials().front();
  EXPECT_EQ(trial.state, TrialState::finished);
  EXPECT_EQ(trial.fence, 1) << "run again";
}

TEST(Postgresql, PatienceEnds) {
  LOCUS_NEED_POSTGRESQL();
  PostgresServer server;
  SharedLab lab(LOCUS_FAKE_LAB, server.url());
  ASSERT_EQ(lab.on_store(plan_of("submit", "rope:slow")).exit_code, 0);
  Store store(server.url());
  lab.start_machine("a", "600", {"--patience", "1", "--until", "1d"});
  lab.a_busy_worker();
  server.stop(SIGQUIT);
  EXPECT_EQ(WEXITSTATUS(lab.wait_for_machine("a")), 1);
  EXPECT_THROW(store.now(), StoreAway);
  int waits = 0;
  Patience patience;
  patience.seconds = 1;
  patience.away = [&](const std::string&) { ++waits; };
  store.set_patience(patience);
  EXPECT_THROW(store.now(), StoreAway);
  EXPECT_EQ(waits, 1);  // one line, not one per attempt
  server.start();
  EXPECT_GT(store.now(), 0);
}

/// The tables' disk, which can be full: a small one that is mounted for it or, where that is not allowed, the server's own
/// error of a full disk, raised by a trigger.
class SmallDisk {
 public:
  explicit SmallDisk(const PostgresServer& server) : server_(server), path_(server.folder() + "/small") {
    std::filesystem::create_directory(path_);
    mounted_ = mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=16m") == 0;
    if (!mounted_) return;
    server.give(path_);
    server.sql("CREATE TABLESPACE small LOCATION '" + path_ + "'", "postgres");
    server.sql("ALTER DATABASE lab SET default_tablespace = small", "postgres");
  }
  ~SmallDisk() {
    if (mounted_) umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  void fill() const {
    if (mounted_) {
      std::ofstream ballast(path_ + "/ballast", std::ios::binary);
      const std::string page(4096, 'x');
      while (ballast.write(page.data(), std::ssize(page)).flush()) {
      }
      return;
    }
    server_.sql(
        "CREATE FUNCTION locus_lab.no_room() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;"
        "CREATE TRIGGER no_room BEFORE INSERT ON locus_lab.measurements EXECUTE FUNCTION locus_lab.no_room()");
  }
  void make_room() const {
    if (mounted_) {
      std::filesystem::remove(path_ + "/ballast");
    } else {
      server_.sql("DROP TRIGGER no_room ON locus_lab.measurements");
    }
  }

 private:
  const PostgresServer& server_;
  std::string path_;
  bool mounted_ = false;
};

// A full disk is waited for, with one line; what was not stored whole is not stored at all.
TEST(Postgresql, WaitsForRoomOnAFullDisk) {
  LOCUS_NEED_POSTGRESQL();
  PostgresServer server;
  const SmallDisk disk(server);
  PlanRequest request{.preset = "quick", .tasks = {"back"}};
  Patience impatient;
  impatient.seconds = 0;
  Store store(server.url(), impatient);
  const std::int64_t run = store.begin_run(Json::object(), make_plan(request).trials, false);
  const auto trial = store.lease(run, {.owner = "a"});
  ASSERT_TRUE(trial);
  const std::vector<Measurement> numbers(20'000, {"a line", "a name", 1, 1, 0.5});
  disk.fill();
  std::string said;
  try {
    store.finish(*trial, 1, numbers);
  } catch (const StoreAway& away) {
    said = away.what();
  }
  EXPECT_NE(said.find("could not extend file"), std::string::npos) << said;
  EXPECT_EQ(store.trials(run)[0].state, TrialState::leased);
  EXPECT_TRUE(store.measurements(trial->key).empty());

  int lines = 0;
  Patience patience;
  patience.seconds = 600;
  patience.away = [&](const std::string&) {
    ++lines;
    disk.make_room();
  };
  store.set_patience(patience);
  EXPECT_TRUE(store.finish(*trial, 1, numbers));
  EXPECT_EQ(lines, 1);
  EXPECT_EQ(store.trials(run)[0].state, TrialState::finished);
  EXPECT_EQ(store.measurements(trial->key).size(), numbers.size());
}

TEST(Postgresql, RefusesWithOneLine) {
  LOCUS_NEED_POSTGRESQL();
  PostgresServer server;
  for (const char* name : {"other", "newer", "closed", "taken"}) server.sql(std::string("CREATE DATABASE ") + name);
  server.sql("CREATE SCHEMA locus_lab; CREATE TABLE locus_lab.store (goods TEXT)", "other");
  server.sql("CREATE ROLE guest LOGIN");
  const TemporaryFolder folder;
  const auto lab = [&](const std::string& command, const std::string& url) {
    return locus::testing::run_command(LOCUS_FAKE_LAB, {command, "--preset", "quick", "--store", url}, folder.path(),
                                       std::chrono::seconds(120));
  };
  EXPECT_EQ(lab("submit", server.url("newer")).exit_code, 0);
  server.sql("UPDATE locus_lab.store SET version = 99", "newer");
  EXPECT_EQ(lab("submit", server.url("taken")).exit_code, 0);
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {server.url("other"), "another program"},
      {server.url("newer"), "version 99"},
      {server.url("closed", "guest"), "permission denied"},
      {server.url("taken", "guest"), "permission denied"},
      {server.url("missing"), "missing"},
      {server.url("lab", "nobody-known"), "nobody-known"},
      {"postgresql://locus:secret@127.0.0.1:1/lab", "127.0.0.1"},
      {"postgresql://locus@/lab?host=/no/such/folder", "/no/such/folder"},
      {"postgresql://locus@/lab?no_such_setting=1", "no_such_setting"},
      {"mysql://locus@server/lab", "sqlite:FILE or postgresql://"}};
  for (const auto& [url, words] : wrong) {
    for (const char* command : {"submit", "work"}) {
      const CommandResult result = lab(command, url);
      EXPECT_EQ(result.exit_code, 2) << url << result.err;
      EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << url << result.err;
      EXPECT_NE(result.err.find(words), std::string::npos) << url << result.err;
      EXPECT_EQ(result.err.find("secret"), std::string::npos) << result.err;
    }
  }
  EXPECT_EQ(server.sql("SELECT goods FROM locus_lab.store", "other"), "");
  EXPECT_EQ(server.sql("SELECT COUNT(*) FROM pg_namespace WHERE nspname = 'locus_lab'", "closed"), "0");
  EXPECT_EQ(lab("slurm", server.url()).exit_code, 2);  // without --array
}

}  // namespace
}  // namespace locus::lab
