// SPDX-License-Identifier: Apache-2.0
// A worker seen from its parent: a child process with one thread, which ends with its parent.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace locus::lab {

// Exit codes of a worker besides 0, with which it ends where no trial is left.
constexpr int exit_of_bad_input = 2;
constexpr int exit_of_lost_store = 3;

struct WorkerCommand {
  std::string program;
  std::vector<std::string> arguments;
  std::string log;  ///< a file that the workers' output is appended to
};

class WorkerProcess {
 public:
  /// Error where it cannot be started.
  explicit WorkerProcess(const WorkerCommand& command);

  /// As the store names its leases.
  const std::string& owner() const { return owner_; }
  /// The wait status once it has ended.
  std::optional<int> ended();
  /// Ends it at once.
  void kill();

 private:
  pid_t process_ = -1;
  std::string owner_;
};

/// "was ended by signal 11 (Segmentation fault)" or "ended with exit code 3".
std::string how_it_ended(int status);

}  // namespace locus::lab
