// SPDX-License-Identifier: Apache-2.0
// A PostgreSQL server in a temporary folder, reached by a socket there. PostgreSQL refuses to run as root: then it runs as
// the user that its package creates.
#pragma once

#include <gtest/gtest.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "support/command.h"

namespace locus::lab::testing {

class PostgresServer {
 public:
  /// The folder of its programs; empty where it is not installed.
  static std::filesystem::path programs() {
    std::filesystem::path newest;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", ignored)) {
      if (std::filesystem::exists(entry.path() / "bin/initdb")) newest = std::max(newest, entry.path() / "bin");
    }
    return newest;
  }

  PostgresServer() {
    const passwd* const user = geteuid() == 0 ? getpwnam("postgres") : getpwuid(geteuid());
    if (user == nullptr) {
      ADD_FAILURE() << "there is no user postgres";
      return;
    }
    user_ = user->pw_uid;
    group_ = user->pw_gid;
    if (mkdtemp(folder_.data()) == nullptr || chown(folder_.c_str(), user_, group_) != 0) {
      ADD_FAILURE() << "cannot create " << folder_;
      return;
    }
    const pid_t made = run_as_user({"initdb", "-D", folder_ + "/data", "-A", "trust", "-U", "locus", "-N"});
    int status = 0;
    waitpid(made, &status, 0);
    EXPECT_EQ(status, 0) << "initdb failed: " << folder_;
    start();
    sql("CREATE DATABASE lab", "postgres");
  }
  ~PostgresServer() {
    stop(SIGQUIT);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  std::string url(const std::string& database = "lab", const std::string& user = "locus") const {
    return "postgresql://" + user + "@/" + database + "?host=" + folder_;
  }

  const std::string& folder() const { return folder_; }
  /// Makes the server's user the owner.
  void give(const std::string& path) const {
    EXPECT_TRUE(geteuid() != 0 || chown(path.c_str(), user_, group_) == 0) << path;
  }

  void start() {
    server_ = run_as_user({"postgres", "-D", folder_ + "/data", "-k", folder_, "-c", "listen_addresses=", "-c",
                           "fsync=off", "-c", "max_connections=200"});
    for (int i = 0; i < 1200; ++i) {
      if (psql({"-c", "SELECT 1"}, "postgres").exit_code == 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    ADD_FAILURE() << "the server does not start: see " << folder_;
  }
  /// SIGQUIT: at once, without tidying up. SIGKILL: as in a crash.
  void stop(int signal) {
    if (server_ <= 0) return;
    kill(server_, signal);
    waitpid(server_, nullptr, 0);
    server_ = -1;
  }

  /// What a statement returns, one line per row, columns separated by |.
  std::string sql(const std::string& statement, const std::string& database = "lab") const {
    const locus::testing::CommandResult result = psql({"-At", "-c", statement}, database);
    EXPECT_EQ(result.exit_code, 0) << statement << ": " << result.err;
    return result.out.substr(0, result.out.find_last_not_of('\n') + 1);
  }

 private:
  locus::testing::CommandResult psql(std::vector<std::string> arguments, const std::string& database) const {
    arguments.insert(arguments.begin(), {"-X", "-h", folder_, "-U", "locus", "-d", database});
    return locus::testing::run_command((programs() / "psql").string(), arguments, "/tmp", std::chrono::seconds(120));
  }

  /// It ends with this process.
  pid_t run_as_user(std::vector<std::string> words) const {
    words.front() = (programs() / words.front()).string();
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const pid_t child = fork();
    if (child != 0) return child;
    const std::string log = folder_ + "/log";
    if (geteuid() == 0 && (setgid(group_) != 0 || setuid(user_) != 0)) _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (chdir(folder_.c_str()) != 0 || freopen(log.c_str(), "a", stdout) == nullptr ||
        freopen(log.c_str(), "a", stderr) == nullptr) {
      _exit(126);
    }
    execv(pointers[0], pointers.data());
    _exit(127);
  }

  std::string folder_ = "/tmp/locus-pg-XXXXXX";  // short: the path of a socket has at most 107 characters
  uid_t user_ = 0;
  gid_t group_ = 0;
  pid_t server_ = -1;
};

/// Skips the test, with the reason, where PostgreSQL is not installed or not built in.
#define LOCUS_NEED_POSTGRESQL()                                \
  if (locus::lab::testing::PostgresServer::programs().empty()) \
  GTEST_SKIP() << "PostgreSQL is not installed"                \
                  " (postgresql)"

}  // namespace locus::lab::testing
