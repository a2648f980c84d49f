// SPDX-License-Identifier: Apache-2.0
// Shared by the tests that every rank runs.
#pragma once

#include <string>

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

}  // namespace locus::tools
