// SPDX-License-Identifier: Apache-2.0
// A child process with one thread that runs a worker and ends with its parent.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace locus::lab {

// Exit codes of a worker; 0 means that no trial is left.
constexpr int exit_of_bad_input = 2;
constexpr int exit_of_lost_store = 3;

struct WorkerCommand {
  std::string program;
  std::vector<std::string> arguments;
  std::string log;  ///< a file that the workers' output is appended to
};

class WorkerProcess {
 public:
  /// Error: it cannot be started.
  explicit WorkerProcess(const WorkerCommand& command);

  /// Returns the owner name of its leases in the store.
  const std::string& owner() const { return owner_; }
  /// Returns the wait status after it has ended.
  std::optional<int> ended();
  /// Kills it.
  void kill();

 private:
  pid_t process_ = -1;
  std::string owner_;
};

/// Returns "was ended by signal 11 (Segmentation fault)" or "ended with exit code 3".
std::string how_it_ended(int status);

}  // namespace locus::lab
