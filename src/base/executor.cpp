// SPDX-License-Identifier: Apache-2.0
#include "locus/executor.h"

#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include "locus/error.h"

namespace locus {

struct ThreadPool::Job {
  const std::function<void(std::int64_t)>* piece;
  std::int64_t count;
  std::int64_t next = 0;                  // the next piece to hand out
  std::atomic<std::int64_t> finished{0};  // finished pieces
  std::exception_ptr error = nullptr;
};

namespace {

// The pool for which this thread is running a piece. A call from inside a piece runs inline: the pool is busy with
// the outer call, which waits for this piece.
thread_local const ThreadPool* working_for = nullptr;

std::exception_ptr run_piece(const ThreadPool* pool, const std::function<void(std::int64_t)>& piece,
                             std::int64_t index) {
  const ThreadPool* outer = std::exchange(working_for, pool);
  std::exception_ptr error;
  try {
    piece(index);
  } catch (...) {
    error = std::current_exception();
  }
  working_for = outer;
  return error;
}

// Waking a thread takes tens of microseconds, too long for many small calls in a row. So a thread polls for a while
// before it sleeps.
constexpr std::chrono::microseconds patience{100};

template <class Condition>
void poll_for(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  require(threads >= 1 && threads <= 1024, "a thread pool must have 1 to 1024 threads, got ", threads);
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error& error) {
    const std::size_t started = workers_.size() + 1;
    stop();
    fail("a thread pool of ", threads, " threads could start only ", started, ": ", error.what());
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    if (do_one_piece(lock)) continue;
    lock.unlock();
    poll_for([this] { return has_work_.load(); });
    lock.lock();
    wake_.wait(lock, [this] { return stopping_ || has_work_; });
  }
}

bool ThreadPool::do_one_piece(std::unique_lock<std::mutex>& lock) {
  if (!has_work_) return false;
  Job& job = *job_;
  const std::int64_t index = job.next++;
  has_work_ = job.next < job.count;
  lock.unlock();
  const std::exception_ptr error = run_piece(this, *job.piece, index);
  lock.lock();
  if (error) job.error = error;
  if (++job.finished == job.count) done_.notify_all();  // from here on the job may no longer exist
  return true;
}

void ThreadPool::run(std::int64_t count, const std::function<void(std::int64_t)>& piece) {
  if (count <= 0) return;
  if (working_for == this) {
    std::exception_ptr error;
    for (std::int64_t index = 0; index < count; ++index) {
      if (std::exception_ptr failed = run_piece(this, piece, index)) error = failed;
    }
    if (error) std::rethrow_exception(error);
    return;
  }
  const std::lock_guard<std::mutex> one(one_run_);
  Job job{.piece = &piece, .count = count};
  std::unique_lock<std::mutex> lock(mutex_);
  job_ = &job;
  has_work_ = true;
  wake_.notify_all();
  while (do_one_piece(lock)) continue;
  lock.unlock();
  poll_for([&] { return job.finished == count; });
  lock.lock();
  done_.wait(lock, [&] { return job.finished == count; });
  job_ = nullptr;
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace locus
