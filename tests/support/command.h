// SPDX-License-Identifier: Apache-2.0
// Runs a program without a shell, and provides a temporary folder.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace locus::testing {

struct CommandResult {
  int exit_code = -1;  ///< or minus the number of the signal that ended it
  bool timed_out = false;
  std::string out;
  std::string err;
};

/// Runs `program` in `folder`, with nothing on its standard input. After `timeout` it is killed.
CommandResult run_command(const std::string& program, const std::vector<std::string>& arguments,
                          const std::filesystem::path& folder,
                          std::chrono::milliseconds timeout = std::chrono::seconds(60));

/// A new empty folder, removed with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  void write(const std::string& name, const std::string& content) const;
  std::string read(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

}  // namespace locus::testing
