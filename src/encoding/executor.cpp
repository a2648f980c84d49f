// SPDX-License-Identifier: Apache-2.0
#include "locus/executor.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "locus/error.h"

namespace locus {

struct ThreadPool::Job {
  const std::function<void(std::int64_t)>* piece;
  std::int64_t count;
  std::int64_t next = 0;      // the next piece to hand out
  std::int64_t finished = 0;  // pieces that have ended
  std::exception_ptr error = nullptr;
};

namespace {

// The pool for which this thread is running a piece. A call from inside a piece runs right there: the pool is busy with
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

}  // namespace

ThreadPool::ThreadPool(int threads) {
  require(threads >= 1 && threads <= 1024, "a thread pool must have 1 to 1024 threads, got ", threads);
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || (job_ != nullptr && job_->next < job_->count); });
    if (stopping_) return;
    Job& job = *job_;
    const std::int64_t index = job.next++;
    lock.unlock();
    const std::exception_ptr error = run_piece(this, *job.piece, index);
    lock.lock();
    if (error) job.error = error;
    if (++job.finished == job.count) done_.notify_all();
  }
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
  wake_.notify_all();
  while (job.next < job.count) {
    const std::int64_t index = job.next++;
    lock.unlock();
    const std::exception_ptr error = run_piece(this, piece, index);
    lock.lock();
    if (error) job.error = error;
    ++job.finished;
  }
  done_.wait(lock, [&] { return job.finished == job.count; });
  job_ = nullptr;
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace locus
