// SPDX-License-Identifier: Apache-2.0
#include "peer_programs.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "command.h"
#include "locus/error.h"

namespace locus::tools {
namespace {

namespace fs = std::filesystem;

constexpr const char* names[] = {"locus_bench_peers", "locus_bench_onnxruntime"};

// Runs a program whose standard output is read line by line. The destructor ends it.
class Child {
 public:
  Child(const std::string& program, std::vector<std::string> arguments) {
    int ends[2];
    require(pipe(ends) == 0, "cannot open a pipe for the peer program ", program);
    arguments.insert(arguments.begin(), program);
    std::vector<char*> words;
    for (std::string& word : arguments) words.push_back(word.data());
    words.push_back(nullptr);
    id_ = fork();
    if (id_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      close(ends[1]);
      execv(program.c_str(), words.data());
      _exit(127);
    }
    close(ends[1]);
    out_ = fdopen(ends[0], "r");
    require(id_ > 0 && out_ != nullptr, "cannot start the peer program ", program);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (id_ > 0) {
      kill(id_, SIGTERM);
      wait();
    }
    if (out_ != nullptr) std::fclose(out_);
  }

  bool read_line(std::string& line) {
    line.clear();
    for (int c = std::fgetc(out_); c != EOF; c = std::fgetc(out_)) {
      if (c == '\n') return true;
      line.push_back(static_cast<char>(c));
    }
    return !line.empty();
  }
  /// Waits until it ends; returns whether it succeeded.
  bool wait() {
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  pid_t id_ = -1;
  std::FILE* out_ = nullptr;
};

PeerResult parse(const std::string& line, const std::string& program) {
  const Json json = Json::parse(line, nullptr, false);
  try {
    const Json& interval = json.at("interval");
    return {.peer = json.at("peer"),
            .group = json.at("group"),
            .line = json.at("line"),
            .times = {json.at("times"), interval.at(0), interval.at(1)},
            .seconds = json.at("seconds")};
  } catch (const Json::exception&) {
    fail("the peer program " + program + " printed a line that is not a result: " + line.substr(0, 200));
  }
}

}  // namespace

std::string PeerResult::text() const {
  std::ostringstream text;
  text.precision(times.median < 10 ? 2 : 3);
  if (times.median >= 1) {
    text << peer << ' ' << times.median << "x slower";
  } else {
    text << peer << ' ' << 1 / times.median << "x faster";
  }
  if (times.noisy()) text << " (noisy)";
  return text.str();
}

std::vector<std::string> peer_programs() {
  std::error_code none;
  const fs::path folder = fs::read_symlink("/proc/self/exe", none).parent_path();
  std::vector<std::string> found;
  for (const char* name : names) {
    if (access((folder / name).c_str(), X_OK) == 0) found.push_back(folder / name);
  }
  return found;
}

std::string how_to_get_peers() {
  return "no peer program found next to locus: install libtorch-dev and libopenblas-dev, configure and build "
         "locus_bench_peers (or run npm ci --ignore-scripts in bench/peers/onnxruntime, configure and build)";
}

void run_peer_program(const std::string& program, const bench::Plan& plan,
                      const std::function<bool(const PeerResult&)>& heard) {
  std::vector<std::string> arguments = {"--rounds", std::to_string(plan.pairs.rounds), "--round-seconds",
                                        std::to_string(plan.pairs.round_seconds)};
  if (plan.quick) arguments.emplace_back("--quick");
  arguments.insert(arguments.end(), plan.groups.begin(), plan.groups.end());
  Child child(program, arguments);
  for (std::string line; child.read_line(line);) {
    if (!heard(parse(line, program))) return;
  }
  require(child.wait(), "the peer program ", program, " failed; its results so far are kept");
}

}  // namespace locus::tools
