// SPDX-License-Identifier: Apache-2.0
#include "run/worker_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "locus/error.h"
#include "run/owner.h"

extern char** environ;

namespace locus::lab {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Limits every library to one thread per worker: the lab uses the cores for workers.
std::vector<std::string> environment_of_one_thread() {
  const std::vector<std::string> ours = {
      "OMP_NUM_THREADS=", "OPENBLAS_NUM_THREADS=", "MKL_NUM_THREADS=", "BLIS_NUM_THREADS="};
  std::vector<std::string> result;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string text = *one;
    bool replaced = false;
    for (const std::string& name : ours) replaced = replaced || text.starts_with(name);
    if (!replaced) result.push_back(text);
  }
  for (const std::string& name : ours) result.push_back(name + "1");
  return result;
}

}  // namespace

WorkerProcess::WorkerProcess(const WorkerCommand& command) {
  // Allocates everything here: nothing may be allocated between fork and exec.
  std::vector<std::string> words = {command.program}, settings = environment_of_one_thread();
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  const std::vector<char*> arguments = pointers(words), environment = pointers(settings);
  const int log = open(command.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  require(log >= 0, "cannot write ", command.log, ": ", std::strerror(errno));
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // the parent ended before prctl
    std::signal(SIGINT, SIG_IGN);       // Ctrl-C reaches the whole group; the parent decides
    dup2(nothing, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execve(arguments[0], arguments.data(), environment.data());
    _exit(127);
  }
  const int error = errno;
  close(log);
  close(nothing);
  require(process_ > 0, "cannot start a worker: ", std::strerror(error));
  owner_ = owner_of(process_);
}

std::optional<int> WorkerProcess::ended() {
  int status = 0;
  if (waitpid(process_, &status, WNOHANG) != process_) return {};
  return status;
}

void WorkerProcess::kill() {
  ::kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    return "was ended by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
  }
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace locus::lab
