// SPDX-License-Identifier: Apache-2.0
// Tests that every rank runs: `mpirun -n 4 ring_ranks`. Rank 0 prints; the others print failures only.
#include <gtest/gtest.h>

#include "locus/mpi/ring_attention.h"

namespace {

class FailuresOnly : public ::testing::EmptyTestEventListener {
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (result.failed())
      std::fprintf(stderr, "rank %d: %s:%d %s\n", rank, result.file_name(), result.line_number(), result.summary());
  }
};

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ::testing::TestEventListeners& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) delete listeners.Release(listeners.default_result_printer());
  if (rank != 0) listeners.Append(new FailuresOnly);
  const int code = RUN_ALL_TESTS();
  MPI_Finalize();
  return code;
}
