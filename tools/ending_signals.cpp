// SPDX-License-Identifier: Apache-2.0
// A signal handler may not access the list of unfinished files. It writes the signal's number to a pipe; a thread
// reads it and does the work.
#include "ending_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "locus/io/atomic_file.h"

namespace locus::tools {
namespace {

int pipe_ends[2] = {-1, -1};

void pass_on(int signal) {
  const int cause = errno;
  const auto number = static_cast<unsigned char>(signal);
  [[maybe_unused]] const ssize_t written = write(pipe_ends[1], &number, 1);
  errno = cause;
}

void end_by(int signal) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  raise(signal);
  pause();  // until the signal has ended the program
}

void wait_for_signal() {
  unsigned char number = 0;
  while (read(pipe_ends[0], &number, 1) != 1) {
    if (errno != EINTR) return;
  }
  io::remove_unfinished_files([&] { end_by(number); });
}

}  // namespace

void tidy_up_on_signals() {
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return;  // signals then end the program as before
  std::thread(wait_for_signal).detach();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = pass_on;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace locus::tools
