// SPDX-License-Identifier: Apache-2.0
// A child process with a deadline: a line to it for questions and answers, and what it prints kept apart.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace locus::learn {

/// How a process ended.
struct Ending {
  bool timed_out = false;
  int signal = 0;  ///< 0: it exited
  int exit_code = 0;
};

class Child {
 public:
  /// Starts `words`, the first found along PATH. The child's file descriptor 3 is the line; its standard input is empty;
  /// standard output and error are collected. It ends with this object, and with this program.
  /// Error: no pipe, no process.
  Child(std::vector<std::string> words, double seconds);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  // Each returns false if the child ended or its time is over.
  bool send(std::string_view bytes);
  bool receive_line(std::string& line);
  bool receive(std::size_t count, std::string& bytes);

  /// Waits until it ends; kills it when its time is over, or at once if `now`.
  Ending end(bool now = false);
  /// What it printed so far, the first 64 KiB.
  const std::string& printed();

 private:
  enum class Want { read, write, end };
  bool wait_for(Want want);
  void collect();

  int id_ = -1;
  int line_ = -1;
  int output_ = -1;
  std::chrono::steady_clock::time_point deadline_;
  std::string received_;
  std::string printed_;
  bool timed_out_ = false;
};

/// Exit code of a child whose program was not found.
inline constexpr int not_found = 127;

}  // namespace locus::learn
