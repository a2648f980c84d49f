// SPDX-License-Identifier: Apache-2.0
// A program whose rank 1 goes away in the middle of attention: `mpirun -n 3 lost_rank exits|hangs`. The others end the
// job after 2 seconds with a line that names it.
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "mpi/ring_sample.h"

namespace {

/// Goes away when the first piece of work is given to it.
class GoesAway : public locus::Executor {
 public:
  explicit GoesAway(bool exits) : exits_(exits) {}
  std::int64_t concurrency() const override { return 1; }
  void run(std::int64_t, const std::function<void(std::int64_t)>&) override {
    if (exits_) _exit(3);
    sleep(600);
  }

 private:
  bool exits_;
};

}  // namespace

int main(int argc, char** argv) {
  using namespace locus;
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Encoding alibi("alibi", {{"heads", std::int64_t{4}}});
  tools::RingSample sample(alibi, {{3000}, 4, 2, 16}, ElementType::float32, 1);
  tools::RingSample::Share share;
  sample.make_share(positions::ShardKind::zigzag, positions::Remainder::padded, ranks, rank, share);
  GoesAway executor(argc > 1 && std::strcmp(argv[1], "exits") == 0);
  share.call.communicator = MPI_COMM_WORLD;
  share.call.mask = {.causal = true};
  share.call.seconds_to_wait = 2;
  if (rank == 1) share.call.executor = &executor;
  try {
    mpi::attend(share.call);
  } catch (const mpi::RankLost& error) {
    std::fprintf(stderr, "lost_rank: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
