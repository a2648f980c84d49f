// SPDX-License-Identifier: Apache-2.0
#include "run/supervisor.h"

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "locus/error.h"

namespace locus::lab {
namespace {

constexpr std::chrono::milliseconds pause(250);
constexpr int most_useless = 3;  // workers that crashed before they leased a trial
constexpr int most_killed = 20;  // the same for workers that were killed

/// Returns whether the signal came from outside: the out-of-memory killer, a batch system or a person.
bool was_ended_from_outside(int status) {
  if (WIFEXITED(status)) return false;
  const int signal = WTERMSIG(status);
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

std::string last_line_of(const std::string& file) {
  std::ifstream stream(file);
  std::string last;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

/// The workers of one run. Its destructor ends them and their leases.
class Crew {
 public:
  Crew(Store& store, const WorkerCommand& command) : store_(store), command_(command) {}
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() {
    for (WorkerProcess& worker : workers_) worker.kill();
    store_.set_patience({});
    for (const WorkerProcess& worker : workers_) {
      try {
        store_.release(worker.owner());
      } catch (const Error&) {  // the next run finds the lease expired
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
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;            // no trial was left
    if (WIFEXITED(status) && WEXITSTATUS(status) == exit_of_bad_input) {  // its log says why
      store_.release(owner);
      fail("a worker gave up: ", last_line_of(command_.log));
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == exit_of_lost_store) {  // the patience has ended
      store_.release(owner);
      throw StoreAway("a worker gave up: " + last_line_of(command_.log));
    }
    const std::string how = "the worker " + how_it_ended(status);
    const bool from_outside = was_ended_from_outside(status);
    if ((from_outside ? store_.lost(owner, how) : store_.crashed(owner, how)) > 0) {
      useless_ = 0;
    } else if (++useless_ >= (from_outside ? most_killed : most_useless)) {
      fail("workers do not start: the last one ", how_it_ended(status), "; their output is in ", command_.log);
    }
  }

  Store& store_;
  const WorkerCommand& command_;
  std::vector<WorkerProcess> workers_;
  int useless_ = 0;
};

}  // namespace

bool supervise(Store& store, std::int64_t run, const Supervision& how) {
  Crew crew(store, how.command);
  const int rounds_per_look = store.is_shared() ? 4 : 1;
  for (int round = 0;; ++round) {
    crew.handle_ended();
    if (how.stop && how.stop()) return false;
    if (round % rounds_per_look == 0) {
      if (round % 8 == 0) store.release_stale(run);
      const Queue queue = store.queue(run, how.kind);
      if (how.watch) how.watch(queue);
      // Workers end themselves: one that has finished the last trial may still repeat another.
      if (queue.waiting + queue.leased == 0 && crew.size() == 0 && !how.stay) return true;
      const std::size_t wanted =
          std::min(static_cast<std::size_t>(how.workers), crew.size() + static_cast<std::size_t>(queue.waiting));
      while (crew.size() < wanted) crew.add();
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace locus::lab
