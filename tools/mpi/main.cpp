// SPDX-License-Identifier: Apache-2.0
// `locus-mpi`: what needs several ranks, apart from `locus`, so that `locus` does not depend on MPI.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <new>
#include <vector>

#include "failure.h"
#include "help_format.h"
#include "locus/error.h"
#include "locus/mpi/ring_attention.h"
#include "locus/text.h"
#include "mpi/commands.h"

namespace locus::tools {

Json finite_or_null(double number) { return std::isfinite(number) ? Json(number) : Json(nullptr); }

void print_json_line(const Json& object) { std::cout << object.dump() << '\n'; }

namespace {

/// Collective. Ranks that were started with other arguments (mpirun ... : ...) would wait for each other.
/// Error: on every rank, if one of them was.
void require_same_arguments(int argc, char** argv) {
  std::string words;
  for (int i = 1; i < argc; ++i) words.append(argv[i]).push_back('\0');
  const std::size_t own = std::hash<std::string>()(words);
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<std::size_t> all(static_cast<std::size_t>(ranks));
  MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, MPI_COMM_WORLD);
  const auto other = std::find_if(all.begin(), all.end(), [&](std::size_t hash) { return hash != all.front(); });
  require(other == all.end(), "every rank must get the same arguments, rank ", other - all.begin(),
          " has others than rank 0");
}

int run(int argc, char** argv, int rank) {
  CLI::App app{"Attention across machines: check it and time it on every rank.", "locus-mpi"};
  app.formatter(wrapping_help());
  app.set_version_flag("--version", LOCUS_VERSION, "Print the version");
  app.require_subcommand(1);
  app.footer("Each command has --help with examples.\nExample: mpirun -n 4 locus-mpi verify");
  app.set_help_flag("-h,--help", "Print this help");
  add_ring_verify(app);
  add_ring_bench(app);
  const bool json = asks_for_json(argc, argv);
  const auto tell = [&](const std::string& message, const std::string& help, int code) {
    return report({.program = "locus-mpi", .message = message, .help = help, .exit_code = code}, json);
  };
  // Every rank has the same arguments and refuses together; one of them speaks.
  const auto refuse = [&](const std::string& message, const std::string& help = {}) {
    return rank == 0 ? tell(message, help, 2) : 2;
  };
  // The others cannot know: end them too.
  const auto end_all = [&](const std::string& message, int code) {
    tell(message, {}, code);
    std::cerr.flush();
    MPI_Abort(MPI_COMM_WORLD, code);
    return code;
  };
  try {
    require_same_arguments(argc, argv);
    if (argc == 1) {
      if (rank == 0) std::cout << app.help();
      return 0;
    }
    app.parse(argc, argv);
    std::cout.flush();
    require(std::cout.good(), "cannot write to standard output");
    return 0;
  } catch (const CLI::Success& success) {
    return rank == 0 ? app.exit(success) : 0;
  } catch (const CLI::ParseError& error) {
    return refuse(text_of(error, app), help_command(app));
  } catch (const RingCheckFailed&) {
    return 1;
  } catch (const mpi::RankLost& error) {
    return end_all(error.what(), 1);
  } catch (const Error& error) {
    return refuse(error.what());
  } catch (const std::bad_alloc&) {
    return end_all(concat("rank ", rank, ": not enough memory for this input"), 2);
  } catch (const std::exception& error) {
    return end_all(concat("rank ", rank, ": unexpected: ", error.what()), 2);
  }
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
