// SPDX-License-Identifier: Apache-2.0
#include "learn/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "locus/error.h"

namespace locus::learn {
namespace {

constexpr std::size_t most_printed = 64 << 10;

/// In the child: the line at 3, nothing to read, output to the pipe, and an end together with the parent.
[[noreturn]] void become(std::vector<char*>& words, int line, int output, int parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  if (line == 3) {
    fcntl(line, F_SETFD, 0);
  } else {
    dup2(line, 3);
  }
  execvp(words.front(), words.data());
  _exit(not_found);
}

}  // namespace

Child::Child(std::vector<std::string> words, double seconds)
    : deadline_(std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                       std::chrono::duration<double>(seconds))) {
  int line[2], output[2];
  require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) == 0 && pipe2(output, O_CLOEXEC) == 0,
          "cannot open a pipe for ", words.front());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const int parent = getpid();
  id_ = fork();
  if (id_ == 0) become(pointers, line[1], output[1], parent);
  if (id_ > 0) setpgid(id_, id_);  // here too: it may have to be killed before it gets to do it itself
  close(line[1]);
  close(output[1]);
  line_ = line[0];
  output_ = output[0];
  require(id_ > 0, "cannot start ", words.front());
  fcntl(line_, F_SETFL, O_NONBLOCK);
  fcntl(output_, F_SETFL, O_NONBLOCK);
}

Child::~Child() {
  end(true);
  close(line_);
  if (output_ >= 0) close(output_);
}

void Child::collect() {
  std::array<char, 4096> block;
  for (int i = 0; i < 16; ++i) {  // a child that prints forever must not keep us here beyond its time
    const ssize_t count = read(output_, block.data(), block.size());
    if (count > 0) {
      const std::size_t room = most_printed - printed_.size();
      printed_.append(block.data(), std::min(static_cast<std::size_t>(count), room));
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else {
      if (count == 0) {  // the last writer closed it
        close(output_);
        output_ = -1;
      }
      return;
    }
  }
}

const std::string& Child::printed() {
  if (output_ >= 0) collect();
  return printed_;
}

bool Child::wait_for(Want want) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      timed_out_ = true;
      return false;
    }
    const short event = want == Want::write ? POLLOUT : POLLIN;
    std::array<pollfd, 2> files = {{{want == Want::end ? -1 : line_, event, 0}, {output_, POLLIN, 0}}};
    if (want == Want::end && output_ < 0) return true;
    if (poll(files.data(), files.size(), static_cast<int>(left.count()) + 1) < 0 && errno != EINTR) return false;
    if (files[1].revents != 0) collect();
    if (files[0].revents != 0) return true;
  }
}

bool Child::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(line_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN || errno == EINTR) {
      if (!wait_for(Want::write)) return false;
    } else {
      return false;
    }
  }
  return true;
}

bool Child::receive(std::size_t count, std::string& bytes) {
  std::array<char, 1 << 16> block;
  while (received_.size() < count) {
    const ssize_t got = recv(line_, block.data(), block.size(), 0);
    if (got > 0) {
      received_.append(block.data(), static_cast<std::size_t>(got));
    } else if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      if (!wait_for(Want::read)) return false;
    } else {
      return false;
    }
  }
  bytes = received_.substr(0, count);
  received_.erase(0, count);
  return true;
}

bool Child::receive_line(std::string& line) {
  line.clear();
  for (std::string one; receive(1, one);) {
    if (one == "\n") return true;
    line += one;
  }
  return false;
}

Ending Child::end(bool now) {
  if (id_ <= 0) return {};
  if (!now) {
    shutdown(line_, SHUT_RDWR);  // a served program ends when no more questions come
    wait_for(Want::end);
  }
  if (now || timed_out_) kill(-id_, SIGKILL);
  int status = 0;
  while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  kill(-id_, SIGKILL);  // what it started and left behind
  id_ = -1;
  if (output_ >= 0) collect();
  return {timed_out_, WIFSIGNALED(status) ? WTERMSIG(status) : 0, WIFEXITED(status) ? WEXITSTATUS(status) : 0};
}

}  // namespace locus::learn
