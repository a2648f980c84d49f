// SPDX-License-Identifier: Apache-2.0
// `locus-mpi`: what needs several ranks, apart from `locus`, so that `locus` does not depend on MPI.
#include <iostream>

#include "locus/error.h"
#include "locus/mpi/ring_attention.h"
#include "mpi/commands.h"

namespace locus::tools {
namespace {

int run(int argc, char** argv, int rank) {
  CLI::App app{"Attention across machines: check it and time it on every rank.", "locus-mpi"};
  app.set_version_flag("--version", LOCUS_VERSION, "Print the version");
  app.require_subcommand(1);
  app.footer("Each command has --help with examples.\nExample: mpirun -n 4 locus-mpi verify");
  app.set_help_flag("-h,--help", "Print this help");
  add_ring_verify(app);
  add_ring_bench(app);
  // Every rank has the same arguments; one of them speaks.
  const auto complain = [&](const std::string& message) {
    if (rank == 0) std::cerr << "locus-mpi: " << message << '\n';
  };
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::Success& success) {
    return rank == 0 ? app.exit(success) : 0;
  } catch (const CLI::ParseError& error) {
    complain(std::string(error.what()) + " (see locus-mpi --help)");
  } catch (const RingCheckFailed&) {
    return 1;
  } catch (const mpi::RankLost& error) {
    // The others cannot know: end them too.
    std::cerr << "locus-mpi: " << error.what() << std::endl;
    MPI_Abort(MPI_COMM_WORLD, 1);
  } catch (const Error& error) {
    complain(error.what());
  } catch (const std::exception& error) {
    std::cerr << "locus-mpi: rank " << rank << ": unexpected: " << error.what() << std::endl;
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return 2;
}

}  // namespace
}  // namespace locus::tools

int main(int argc, char** argv) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int code = locus::tools::run(argc, argv, rank);
  std::cout.flush();
  MPI_Finalize();
  return code;
}
