// SPDX-License-Identifier: Apache-2.0
// Attention over ranks compared with the exact reference over the whole, on every rank.
#pragma once

#include <optional>
#include <string>

#include "mpi/ring_sample.h"

namespace locus::tools {

/// One way to cut and to mask a sample.
struct RingCase {
  positions::ShardKind kind = positions::ShardKind::zigzag;
  positions::Remainder remainder = positions::Remainder::padded;
  Mask mask = {.causal = true};
  bool skip_irrelevant_blocks = true;
};

/// The first entry, by token of the packed row and head, that is beyond its bound.
struct Divergence {
  int rank = 0;
  std::int64_t token = 0, head = 0;
  double got = 0, want = 0, bound = 0;
};

/// The same on every rank.
struct RingComparison {
  double worst = 0;           ///< the largest error as a share of its bound, over all ranks
  std::int64_t compared = 0;  ///< numbers, over all ranks
  std::optional<Divergence> first;
  mpi::RingWork work;  ///< of this rank

  bool passed() const { return !first && compared > 0; }
};

/// What a rank may do wrong on purpose.
using Sabotage = void (*)(RingSample::Share& share, int rank, int ranks);

/// Collective. The bound is that of ring_attention.h.
RingComparison compare_forward(MPI_Comm communicator, RingSample& sample, const RingCase& by,
                               Sabotage sabotage = nullptr);

/// Collective. Gradients against attend_backward() of the whole in double, within `tolerance` of the largest one.
RingComparison compare_backward(MPI_Comm communicator, RingSample& sample, const RingCase& by, double tolerance);

/// "token 17, head 2 on rank 1: got 0.5, expected 0.25 within 1e-6".
std::string to_text(const Divergence& divergence);

}  // namespace locus::tools
