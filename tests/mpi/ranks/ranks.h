// SPDX-License-Identifier: Apache-2.0
// Shared by the tests that every rank runs.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "mpi/verify_ring.h"

namespace locus::tools {

inline int rank_of_this() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int all_ranks() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

inline std::string where(const RingComparison& comparison) {
  return comparison.first ? to_text(*comparison.first) : std::to_string(comparison.compared) + " numbers";
}

/// Pauses of other lengths on every rank and in every run.
class Unsteady : public Executor {
 public:
  explicit Unsteady(int seed) : seed_(seed) {}
  std::int64_t concurrency() const override { return 1; }
  void run(std::int64_t count, const std::function<void(std::int64_t)>& piece) override {
    for (std::int64_t i = 0; i < count; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(seed_ = seed_ * 75 % 1009));
      piece(i);
    }
  }

 private:
  int seed_;
};

}  // namespace locus::tools
