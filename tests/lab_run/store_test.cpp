// SPDX-License-Identifier: Apache-2.0
// The store: exclusive leases, work that is not lost, and invalid files.
#include "run/store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>
#include <set>
#include <thread>

#include "locus/error.h"
#include "run/owner.h"
#include "run/plan.h"
#include "support/command.h"
#include "support/error_of.h"

namespace locus::lab {
namespace {

using locus::testing::TemporaryFolder;

std::vector<TrialSpec> some_trials(const std::string& seeds = "1") {
  PlanRequest request{.preset = "quick", .tasks = {"back"}};
  request.seeds = seeds;
  return make_plan(request).trials;
}

class StoreTest : public ::testing::Test {
 protected:
  std::string url() const { return "sqlite:" + (folder_ / "store.sqlite").string(); }
  std::string refusal() const {
    return locus::testing::error_of([&] {
      Store store(url());
      store.begin_run(Json::object(), some_trials(), false);
    });
  }
  TemporaryFolder folder_;
};

/// Runs `work` in a separate process; returns its exit code, or minus the signal.
template <class Work>
int in_another_process(const Work& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_F(StoreTest, KeepsEveryBitOfNumbers) {
  Store store(url());
  const std::int64_t run = store.begin_run({{"preset", "quick"}}, some_trials(), false);
  const auto trial = store.lease(run, {"a"});
  ASSERT_TRUE(trial);
  const std::vector<double> values = {0.1 + 0.2, 1.0 / 3, -2.5, 5e-324, 1.7976931348623157e308, 3};
  std::vector<Measurement> measured;
  for (const double value : values) measured.push_back({"rope+yarn", "loss", 1LL << 40, 25, value});
  measured.push_back({"rope", "it's; \"odd\"", 0, -1, std::nan("")});
  measured.push_back({"rope", "loss", 0, -1, std::numeric_limits<double>::infinity()});
  EXPECT_TRUE(store.finish(*trial, 1.5, measured));
  const std::vector<Measurement> back = Store(url()).measurements(trial->key);
  ASSERT_EQ(back.size(), measured.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(back[i].value, values[i]);
    EXPECT_EQ(back[i].length, 1LL << 40);
    EXPECT_EQ(back[i].place, 25);
    EXPECT_EQ(back[i].line, "rope+yarn");
  }
  EXPECT_EQ(back[values.size()].name, "it's; \"odd\"");
  EXPECT_TRUE(std::isnan(back[values.size()].value));
  EXPECT_TRUE(std::isnan(back.back().value));
  EXPECT_EQ(store.trials(run).front().seconds, 1.5);
  EXPECT_EQ(store.latest_run()->header, (Json{{"preset", "quick"}}));
}

TEST_F(StoreTest, ReusesFinishedTrialsAndRepeatsFailedOnes) {
  Store store(url());
  const std::int64_t first = store.begin_run(Json::object(), some_trials("1"), false);
  const auto finished = store.lease(first, {"a"}), failed = store.lease(first, {"a"});
  ASSERT_TRUE(finished && failed);
  store.finish(*finished, 2, {{"nope", "loss", 32, -1, 1}});
  store.fail(*failed, "because");
  EXPECT_EQ(store.trials(first)[1].error, "because");

  const std::int64_t second = store.begin_run(Json::object(), some_trials("2"), false);
  const std::vector<StoredTrial> trials = store.trials(second);
  ASSERT_EQ(trials.size(), 12u);
  EXPECT_EQ(trials[0].state, TrialState::finished);
  for (std::size_t i = 1; i < trials.size(); ++i) EXPECT_EQ(trials[i].state, TrialState::waiting) << i;
  EXPECT_EQ(store.finished_trials().size(), 1u);

  const std::int64_t third = store.begin_run(Json::object(), some_trials("2"), true);
  for (const StoredTrial& trial : store.trials(third)) EXPECT_EQ(trial.state, TrialState::waiting);
  EXPECT_TRUE(store.measurements(finished->key).empty());
}

TEST_F(StoreTest, LeasesEveryTrialToOneProcess) {
  std::int64_t run = 0;
  {
    Store store(url());
    run = store.begin_run(Json::object(), some_trials("10"), false);  // 60 trials
  }
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      int code = 0;
      try {
        Store store(url());
        const std::string owner = this_owner();
        while (const auto trial = store.lease(run, {owner})) {
          const auto pid = static_cast<double>(getpid());
          if (!store.finish(*trial, 0, {{"line", "pid", 0, -1, pid}})) code = 1;
        }
      } catch (const std::exception&) {
        code = 2;
      }
      _exit(code);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  Store store(url());
  for (const StoredTrial& trial : store.trials(run)) {
    EXPECT_EQ(trial.state, TrialState::finished);
    EXPECT_EQ(store.measurements(trial.key).size(), 1u) << "claimed twice";
  }
}

TEST_F(StoreTest, RefusesResultsOfALostLease) {
  Store store(url());
  const std::int64_t run = store.begin_run(Json::object(), some_trials(), false);
  const auto trial = store.lease(run, {"slow"});
  EXPECT_TRUE(store.keep(*trial, 0.5));
  store.release("slow");
  const auto again = store.lease(run, {"quick"});
  ASSERT_EQ(again->key, trial->key);
  EXPECT_FALSE(store.keep(*trial, 0.6));
  EXPECT_FALSE(store.finish(*trial, 1, {{"nope", "loss", 32, -1, 1}}));
  EXPECT_FALSE(store.fail(*trial, "late"));
  EXPECT_TRUE(store.measurements(trial->key).empty());
  EXPECT_EQ(store.trials(run).front().owner, "quick");
}

TEST_F(StoreTest, FindsLeasesOfDeadProcesses) {
  Store store(url());
  const std::int64_t run = store.begin_run(Json::object(), some_trials(), false);
  EXPECT_EQ(in_another_process([&] {
              Store own(url());
              return own.lease(run, {this_owner()}) ? 0 : 1;
            }),
            0);
  ASSERT_TRUE(store.lease(run, {this_owner()}));  // running
  // The same process id on a machine or in a container of the same name: cannot be checked.
  std::string elsewhere = this_owner();
  elsewhere.insert(elsewhere.find('/') + 1, "0");
  ASSERT_TRUE(store.lease(run, {elsewhere + "0"}));
  const auto reused = store.lease(run, {this_owner() + "0"});  // the same process id, but another start time
  ASSERT_TRUE(reused);
  EXPECT_EQ(store.release_stale(run), 2);
  EXPECT_EQ(store.trials(run)[0].state, TrialState::waiting);
  EXPECT_EQ(store.trials(run)[1].state, TrialState::leased);
  EXPECT_EQ(store.trials(run)[2].state, TrialState::leased);
  EXPECT_EQ(store.trials(run)[3].state, TrialState::waiting);
}

TEST_F(StoreTest, GivesUpATrialThatCrashedTwice) {
  Store store(url());
  const std::int64_t run = store.begin_run(Json::object(), some_trials(), false);
  ASSERT_TRUE(store.lease(run, {"a"}));
  EXPECT_EQ(store.crashed("a", "signal 6"), 1);
  EXPECT_EQ(store.trials(run)[0].state, TrialState::waiting);
  ASSERT_TRUE(store.lease(run, {"b"}));
  EXPECT_EQ(store.crashed("b", "signal 6"), 1);
  EXPECT_EQ(store.trials(run)[0].state, TrialState::failed);
  EXPECT_EQ(store.trials(run)[0].error, "signal 6");
  EXPECT_EQ(store.crashed("b", "signal 6"), 0);
}

// ---- files that are not a store

TEST_F(StoreTest, RefusesAFileThatIsNoDatabase) {
  folder_.write("store.sqlite", std::string(5000, 'x'));
  EXPECT_NE(refusal().find("store.sqlite"), std::string::npos) << refusal();
  EXPECT_EQ(folder_.read("store.sqlite"), std::string(5000, 'x'));
}

TEST_F(StoreTest, RefusesAnotherProgramsDatabase) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open((folder_ / "store.sqlite").c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, "CREATE TABLE bookmarks (url TEXT)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  EXPECT_NE(refusal().find("another program"), std::string::npos) << refusal();
}

TEST_F(StoreTest, RefusesATruncatedFile) {
  {
    Store store(url());
    store.begin_run(Json::object(), some_trials("20"), false);
  }
  const std::string whole = folder_.read("store.sqlite");
  ASSERT_GT(whole.size(), 20000u);
  folder_.write("store.sqlite", whole.substr(0, whole.size() / 2));
  EXPECT_NE(refusal().find("store.sqlite"), std::string::npos) << refusal();
  std::string scratched = whole;
  for (std::size_t i = 4096; i < scratched.size(); i += 4096) scratched.replace(i, 64, std::string(64, '\xff'));
  folder_.write("store.sqlite", scratched);
  EXPECT_NE(refusal().find("store.sqlite"), std::string::npos) << refusal();
}

TEST_F(StoreTest, RefusesAnUnknownAddress) {
  for (const char* address : {"", "sqlite:", "mysql://machine/lab", "store.sqlite"}) {
    EXPECT_THROW(Store store(address), Error) << address;
  }
  EXPECT_THROW(Store store("sqlite:/no/such/folder/store.sqlite"), Error);
}

TEST_F(StoreTest, ReportsAFullDiskAndKeepsItsData) {
  std::int64_t run = 0;
  {
    Store store(url());
    run = store.begin_run(Json::object(), some_trials(), false);
  }
  const int code = in_another_process([&] {
    try {
      Store store(url());
      const auto trial = store.lease(run, {"a"});
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{100'000, 100'000};
      setrlimit(RLIMIT_FSIZE, &limit);  // simulates a full disk
      store.finish(*trial, 1, std::vector<Measurement>(20'000, {"a line", "a name", 1, 1, 0.5}));
    } catch (const Error& error) {
      return std::string(error.what()).find("store.sqlite") != std::string::npos ? 0 : 2;
    } catch (...) {
      return 3;
    }
    return 1;
  });
  EXPECT_EQ(code, 0);
  Store store(url());
  EXPECT_EQ(store.trials(run)[0].state, TrialState::leased);  // by a dead process, in a real run
  EXPECT_TRUE(store.measurements(store.trials(run)[0].key).empty());
}

TEST_F(StoreTest, ReportsMissingWritePermission) {
  { Store store(url()); }
  namespace fs = std::filesystem;
  const fs::perms all_read = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;
  const fs::perms all_enter = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  fs::permissions(folder_.path(), all_read | all_enter);
  fs::permissions(folder_ / "store.sqlite", all_read);
  const int code = in_another_process([&] {
    if (geteuid() == 0 && setuid(65534) != 0) return 3;  // root may write everything, nobody may not
    const std::string said = refusal();
    return said.find("store.sqlite") != std::string::npos ? 0 : 1;
  });
  fs::permissions(folder_.path(), fs::perms::owner_all);
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace locus::lab
