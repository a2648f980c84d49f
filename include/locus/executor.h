// SPDX-License-Identifier: Apache-2.0
// Executors run the pieces of a large call: on the caller's own threads, on a small pool, or on the calling thread
// alone.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace locus {

/// run() calls piece(0) .. piece(count - 1), each once, in any order and on any thread, and returns when all are
/// done. Implement it over your own threads, or use ThreadPool. Results never depend on the number of threads.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual std::int64_t concurrency() const = 0;
  virtual void run(std::int64_t count, const std::function<void(std::int64_t)>& piece) = 0;
};

/// A fixed set of threads. The calling thread works too, so `threads` = 2 starts one more. One call runs at a time
/// and others wait, except a call from inside a piece, which runs inline. run() rethrows the exception of a piece
/// after all pieces have ended. An idle thread polls for work for 0.1 ms before it sleeps.
/// Error: fewer than 1 or more than 1024 threads, or threads that the system cannot start.
class ThreadPool : public Executor {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool() override;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::int64_t concurrency() const override { return static_cast<std::int64_t>(workers_.size()) + 1; }
  void run(std::int64_t count, const std::function<void(std::int64_t)>& piece) override;

 private:
  struct Job;
  void work();
  /// Takes a piece, if one is left, and runs it. `lock` holds mutex_ except while the piece runs.
  bool do_one_piece(std::unique_lock<std::mutex>& lock);
  void stop();

  std::mutex one_run_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  Job* job_ = nullptr;
  std::atomic<bool> has_work_{false};  ///< job_ has pieces left; written under mutex_, read without it
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

/// Cuts [0, count) into at most one contiguous range per thread, none smaller than `grain`, and runs
/// `range(begin, end)` on each. Without an executor, or for little work, it makes one plain call.
template <class Range>
void for_ranges(Executor* executor, std::int64_t count, std::int64_t grain, const Range& range) {
  const std::int64_t most = executor == nullptr ? 1 : std::max<std::int64_t>(executor->concurrency(), 1);
  const std::int64_t pieces = std::clamp<std::int64_t>(count / std::max<std::int64_t>(grain, 1), 1, most);
  if (executor == nullptr || pieces == 1) {
    range(std::int64_t{0}, count);
    return;
  }
  executor->run(pieces, [&](std::int64_t i) { range(count * i / pieces, count * (i + 1) / pieces); });
}

}  // namespace locus
