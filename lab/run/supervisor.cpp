// SPDX-License-Identifier: Apache-2.0
#include "run/supervisor.h"

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "locus/error.h"

namespace locus::lab {
namespace {

constexpr std::chrono::milliseconds pause(250);
constexpr int most_useless = 3;  // workers that crashed before they leased a trial

std::string last_line_of(const std::string& file) {
  std::ifstream stream(file);
  std::string last;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

/// The workers of one run. None outlives the crew, nor does any of their leases.
class Crew {
 public:
  Crew(Store& store, const WorkerCommand& command) : store_(store), command_(command) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() {
    for (WorkerProcess& worker : workers_) {
      worker.kill();
      try {
        store_.release(worker.owner());
      } catch (const Error&) {  // the next run finds the lease stale
      }
    }
  }

  std::size_t size() const { return workers_.size(); }
  void add() { workers_.emplace_back(command_); }

  void handle_ended() {
    for (std::size_t i = workers_.size(); i-- > 0;) {
      const std::optional<int> status = workers_[i].ended();
      if (!status) continue;
      const std::string owner = workers_[i].owner();
      workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
      handle_end(owner, *status);
    }
  }

 private:
  void handle_end(const std::string& owner, int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;  // no trial was left
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {        // it said why it cannot run
      store_.release(owner);
      fail("a worker gave up: ", last_line_of(command_.log));
    }
    const std::string how = how_it_ended(status);
    if (store_.crashed(owner, "the worker " + how) > 0) {
      useless_ = 0;
    } else if (++useless_ >= most_useless) {
      fail("workers do not start: the last one ", how, "; their output is in ", command_.log);
    }
  }

  Store& store_;
  const WorkerCommand& command_;
  std::vector<WorkerProcess> workers_;
  int useless_ = 0;
};

std::ptrdiff_t count(const std::vector<StoredTrial>& trials, TrialState state) {
  return std::count_if(trials.begin(), trials.end(), [&](const StoredTrial& trial) { return trial.state == state; });
}

}  // namespace

bool supervise(Store& store, std::int64_t run, const Supervision& how) {
  Crew crew(store, how.command);
  for (int round = 0;; ++round) {
    crew.handle_ended();
    if (round % 8 == 0) store.release_stale(run);
    const std::vector<StoredTrial> trials = store.trials(run);
    if (how.watch) how.watch(trials);
    const std::ptrdiff_t waiting = count(trials, TrialState::waiting);
    if (waiting + count(trials, TrialState::leased) == 0) return true;
    if (how.stop && how.stop()) return false;
    const std::size_t wanted =
        std::min(static_cast<std::size_t>(how.workers), crew.size() + static_cast<std::size_t>(waiting));
    while (crew.size() < wanted) crew.add();
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace locus::lab
