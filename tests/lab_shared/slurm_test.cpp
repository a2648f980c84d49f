// SPDX-License-Identifier: Apache-2.0
// Slow: workers as an array job of a real Slurm on this machine, which one_node_slurm starts.
#include <gtest/gtest.h>

#include <cstdlib>

#include "lab_run/shared_lab.h"

namespace locus::lab {
namespace {

using locus::testing::CommandResult;
using locus::testing::TemporaryFolder;
using testing::PostgresServer;
using testing::SharedLab;

class SlurmCluster {
 public:
  static bool is_possible() {
    return geteuid() == 0 && std::filesystem::exists("/usr/sbin/slurmctld") &&
           std::filesystem::exists("/usr/sbin/munged");
  }
  SlurmCluster() {
    const CommandResult result = call("start");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    setenv("SLURM_CONF", (folder_ / "slurm.conf").c_str(), 1);
  }
  ~SlurmCluster() {
    call("stop");
    unsetenv("SLURM_CONF");
  }
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;

  /// A command of Slurm.
  std::string run(const std::string& program, const std::vector<std::string>& arguments) const {
    const CommandResult result =
        locus::testing::run_command("/usr/bin/" + program, arguments, "/tmp", std::chrono::seconds(120));
    EXPECT_EQ(result.exit_code, 0) << program << result.err;
    return result.out;
  }
  std::string queue() const { return run("squeue", {"-h", "-r", "-o", "%K %t"}); }  // "0 R": index and state

 private:
  CommandResult call(const std::string& verb) const {
    return locus::testing::run_command(LOCUS_ONE_NODE_SLURM, {verb, folder_.path().string()}, "/tmp",
                                       std::chrono::seconds(180));
  }
  TemporaryFolder folder_;
};

class SlurmTest : public ::testing::Test {
 protected:
  void SetUp() override {
    LOCUS_NEED_POSTGRESQL();
    if (!SlurmCluster::is_possible()) GTEST_SKIP() << "needs root, slurm-wlm and munge";
    server_ = std::make_unique<PostgresServer>();
    cluster_ = std::make_unique<SlurmCluster>();
    lab_ = std::make_unique<SharedLab>(LOCUS_FAKE_LAB, server_->url());
    ASSERT_EQ(lab_->on_store({"submit", "--preset", "quick", "--tasks", "back", "--seeds", "6", "--schemes",
                              "rope:slow,alibi:slow"})
                  .exit_code,
              0);
    keep_account(*server_);
  }
  /// An array job of two workers; returns its number.
  std::string start_array() {
    const CommandResult result = lab_->lab({"slurm", "--store", server_->url(), "--out", "job", "--array", "2",
                                            "--lease", "3", "--", "--comment=from the test", "--time=10"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const std::size_t number = result.out.find_last_of(' ');
    return result.out.substr(number + 1, result.out.find('\n', number) - number - 1);
  }
  void wait_for_the_end() {
    lab_->wait_until("the job has ended", [&] { return cluster_->queue().empty(); });
  }

  std::unique_ptr<PostgresServer> server_;
  std::unique_ptr<SlurmCluster> cluster_;
  std::unique_ptr<SharedLab> lab_;
};

// lightning#15022: a requeued task of an array continues as the same task.
TEST_F(SlurmTest, ARequeuedTaskContinues) {
  const std::string job = start_array();
  EXPECT_NE(cluster_->run("scontrol", {"show", "job", job}).find("from the test"), std::string::npos);
  lab_->wait_until_finished(2);
  cluster_->run("scontrol", {"requeue", job + "_1"});
  cluster_->run("scancel", {job + "_0"});  // so that task 1 has to do the rest
  lab_->wait_until("task 1 is queued again", [&] { return cluster_->queue() == "1 PD\n"; });
  cluster_->run("scontrol", {"update", "JobId=" + job + "_1", "StartTime=now"});
  wait_for_the_end();
  EXPECT_EQ(account(*server_), "12|12");
  const TemporaryFolder& folder = lab_->folder();
  const std::string log = folder.read("job/slurm-" + job + "_1.log");
  EXPECT_NE(log.find("working on", log.find("working on") + 1), std::string::npos) << log;
  EXPECT_TRUE(std::filesystem::exists(folder / "job/task-1"));
  EXPECT_FALSE(std::filesystem::exists(folder / "job/task-2"));
}

TEST_F(SlurmTest, ACancelledJobLosesNothingFinished) {
  const std::string job = start_array();
  lab_->wait_until_finished(3);
  cluster_->run("scancel", {job});
  wait_for_the_end();
  const std::size_t finished = lab_->count(TrialState::finished);
  EXPECT_GE(finished, 3u);
  EXPECT_LT(finished, 12u);
  EXPECT_EQ(lab_->count(TrialState::leased), 0u) << "a worker that is told to stop returns its trial";
  start_array();
  wait_for_the_end();
  EXPECT_EQ(account(*server_), "12|12");
}

TEST_F(SlurmTest, ReportsWhatSbatchRefuses) {
  const CommandResult result =
      lab_->lab({"slurm", "--store", server_->url(), "--array", "1", "--", "--partition=nowhere"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_NE(result.err.find("nowhere"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace locus::lab
