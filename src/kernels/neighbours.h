// SPDX-License-Identifier: Apache-2.0
// Rows of the hidden site that are made from neighbours.
#pragma once

#include <vector>

#include "locus/add.h"
#include "locus/site.h"

namespace locus {

/// The weights as the kernel reads them, in float32: [groups][kernel][inputs of a group][outputs of a group].
struct NeighbourPlan {
  explicit NeighbourPlan(const HiddenRows& hidden);
  std::vector<float> weights, bias;
};

/// add() for an encoding with neighbours; the call is checked.
void add_from_neighbours(const HiddenRows& hidden, const NeighbourPlan& plan, const HiddenView& view,
                         const PositionIds& ids, Executor* executor);

}  // namespace locus
