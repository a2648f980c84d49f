// SPDX-License-Identifier: Apache-2.0
// The thread pool runs every piece once, for any caller on any thread.
#include "locus/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "locus/error.h"

namespace locus {
namespace {

TEST(ThreadPoolTest, RunsEveryPieceOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.concurrency(), threads);
    for (const std::int64_t count : {1, 2, 3, 7, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
      pool.run(count, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
      for (const auto& run : runs) EXPECT_EQ(run, 1);
    }
  }
}

TEST(ThreadPoolTest, NothingToRun) {
  ThreadPool pool(2);
  pool.run(0, [](std::int64_t) { FAIL(); });
  pool.run(-1, [](std::int64_t) { FAIL(); });
}

// Two pieces that wait for each other finish only on two threads.
TEST(ThreadPoolTest, PiecesRunAtOnce) {
  ThreadPool pool(2);
  std::atomic<int> arrived = 0;
  pool.run(2, [&](std::int64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

// Plain data written by a piece is visible when run() returns; the thread sanitizer finds data races.
TEST(ThreadPoolTest, ResultsAreVisible) {
  ThreadPool pool(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<int> squares(10, -1);
    pool.run(10, [&](std::int64_t i) { squares[static_cast<std::size_t>(i)] = static_cast<int>(i * i); });
    for (int i = 0; i < 10; ++i) ASSERT_EQ(squares[static_cast<std::size_t>(i)], i * i);
  }
}

TEST(ThreadPoolTest, AnExceptionComesBackAfterAllPieces) {
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    std::atomic<int> ended = 0;
    try {
      pool.run(20, [&](std::int64_t i) {
        ++ended;
        if (i == 4) throw std::runtime_error("piece 4");
      });
      FAIL() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(std::string(error.what()), "piece 4");
    }
    EXPECT_EQ(ended, 20);
    pool.run(3, [&](std::int64_t) { ++ended; });  // still usable
    EXPECT_EQ(ended, 23);
  }
}

TEST(ThreadPoolTest, AnExceptionOnEveryPiece) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.run(50, [](std::int64_t) { throw Error("all"); }), Error);
}

// A piece that calls the pool again must not wait for itself.
TEST(ThreadPoolTest, NestedCalls) {
  for (const int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    std::atomic<int> runs = 0;
    pool.run(4, [&](std::int64_t) { pool.run(5, [&](std::int64_t) { ++runs; }); });
    EXPECT_EQ(runs, 20);
    EXPECT_THROW(pool.run(3, [&](std::int64_t) { pool.run(2, [](std::int64_t) { throw Error("inner"); }); }), Error);
    pool.run(4, [&](std::int64_t) { ++runs; });
    EXPECT_EQ(runs, 24);
  }
}

TEST(ThreadPoolTest, CallersOnSeveralThreads) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::vector<std::int64_t> sums(4);
  for (std::int64_t& sum : sums) {
    callers.emplace_back([&pool, &sum] {
      for (int round = 0; round < 100; ++round) {
        std::atomic<std::int64_t> total = 0;
        pool.run(10, [&](std::int64_t i) { total += i; });
        sum += total;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const std::int64_t sum : sums) EXPECT_EQ(sum, 100 * 45);  // 0 + 1 + .. + 9 = 45
}

TEST(ThreadPoolTest, SizesAreChecked) {
  EXPECT_THROW(ThreadPool(0), Error);
  EXPECT_THROW(ThreadPool(-1), Error);
  EXPECT_THROW(ThreadPool(1025), Error);
}

TEST(ForRanges, CoversEveryIndexOnce) {
  ThreadPool pool(3);
  for (std::int64_t count = 0; count <= 40; ++count) {
    for (const std::int64_t grain : {-1, 0, 1, 2, 5, 13, 14, 100}) {
      for (Executor* executor : {static_cast<Executor*>(nullptr), static_cast<Executor*>(&pool)}) {
        std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
        std::atomic<std::int64_t> ranges = 0;
        for_ranges(executor, count, grain, [&](std::int64_t begin, std::int64_t end) {
          ++ranges;
          EXPECT_LE(0, begin);
          EXPECT_LE(begin, end);
          EXPECT_LE(end, count);
          if (end - begin < count) {
            EXPECT_GE(end - begin, grain) << "a range smaller than the grain";
          }
          for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
        });
        for (const auto& times : seen) EXPECT_EQ(times, 1);
        EXPECT_LE(ranges, executor == nullptr ? 1 : 3);
      }
    }
  }
}

// Without an executor, or for less than two grains, the calling thread does all the work.
TEST(ForRanges, LittleWorkStaysOnTheCallersThread) {
  ThreadPool pool(3);
  const std::thread::id here = std::this_thread::get_id();
  const auto only_here = [&](std::int64_t begin, std::int64_t end) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 19);
  };
  for_ranges(nullptr, 19, 1, only_here);
  for_ranges(&pool, 19, 10, only_here);
}

// For any concurrency that a caller's executor reports.
TEST(ForRanges, AnExecutorWithoutThreads) {
  class Nobody : public Executor {
    std::int64_t concurrency() const override { return 0; }
    void run(std::int64_t, const std::function<void(std::int64_t)>&) override { FAIL(); }
  } nobody;
  std::int64_t covered = 0;
  for_ranges(&nobody, 100, 1, [&](std::int64_t begin, std::int64_t end) { covered += end - begin; });
  EXPECT_EQ(covered, 100);
}

TEST(ForRanges, ExceptionsPropagate) {
  ThreadPool pool(2);
  const auto fails = [](std::int64_t, std::int64_t) { throw Error("range"); };
  EXPECT_THROW(for_ranges(nullptr, 4, 1, fails), Error);
  EXPECT_THROW(for_ranges(&pool, 4, 1, fails), Error);
}

}  // namespace
}  // namespace locus
