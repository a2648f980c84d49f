// SPDX-License-Identifier: Apache-2.0
// A running lab in its own folder, for tests that stop it.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "run/json.h"
#include "run/owner.h"
#include "run/store.h"
#include "support/command.h"

namespace locus::lab::testing {

class LabProcess {
 public:
  explicit LabProcess(std::string program) : program_(std::move(program)) {}

  locus::testing::CommandResult lab(const std::vector<std::string>& arguments) const {
    return locus::testing::run_command(program_, arguments, folder_.path(), std::chrono::seconds(240));
  }
  /// Starts the lab and leaves it running.
  pid_t start(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words = {program_};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      if (chdir(folder_.path().c_str()) != 0 || freopen("err.txt", "w", stderr) == nullptr) _exit(126);
      if (freopen("out.txt", "w", stdout) == nullptr) _exit(126);
      execv(pointers[0], pointers.data());
      _exit(127);
    }
    return child;
  }
  const locus::testing::TemporaryFolder& folder() const { return folder_; }
  static int wait_for(pid_t process) {
    int status = 0;
    waitpid(process, &status, 0);
    return status;
  }
  std::vector<StoredTrial> trials() const {
    Store store("sqlite:" + (folder_ / "locus-lab/store.sqlite").string());
    const auto run = store.latest_run();
    return run ? store.trials(run->id) : std::vector<StoredTrial>();
  }
  /// Waits until some trials are done and some are running.
  void wait_for_the_middle() const {
    for (int i = 0; i < 400; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
      if (!std::filesystem::exists(folder_ / "locus-lab/store.sqlite")) continue;
      int done = 0, at_work = 0;
      for (const StoredTrial& one : trials()) {
        done += one.state == TrialState::finished;
        at_work += one.state == TrialState::leased;
      }
      if (done >= 1 && at_work >= 1) return;
    }
    ADD_FAILURE() << "the run did not get to its middle";
  }
  /// Without times and costs, which may differ.
  Json results(const std::string& out = "locus-lab") const {
    Json json = Json::parse(folder_.read(out + "/results.json"));
    for (const char* name : {"created", "finished", "seconds", "speed"}) json["run"].erase(name);
    json.erase("costs");
    json.erase("trials");
    return json;
  }

 protected:
  locus::testing::TemporaryFolder folder_;

 private:
  std::string program_;
};

}  // namespace locus::lab::testing
