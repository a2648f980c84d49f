// SPDX-License-Identifier: Apache-2.0
// What the kernels derive from an encoding on first use and store with it.
#pragma once

#include <optional>

#include "kernels/bias_rows.h"
#include "kernels/exact_rows.h"
#include "kernels/hidden_rows.h"
#include "kernels/neighbours.h"
#include "kernels/piece_rows.h"
#include "locus/encoding.h"

namespace locus {

class KernelState {
 public:
  explicit KernelState(const Encoding& encoding);

  std::optional<StepRows> rotation;         ///< at the site query_key
  std::optional<BiasRows> bias;             ///< at the site score, if a network has the offset only
  std::optional<PieceRows> pieces;          ///< at the site score, if a bias consists of linear pieces
  std::optional<HiddenPlan> hidden;         ///< at the site hidden
  std::optional<NeighbourPlan> neighbours;  ///< where rows come from neighbours
};

/// Computed on the first call, then shared by all threads.
const KernelState& kernel_state_of(const Encoding& encoding);

}  // namespace locus
