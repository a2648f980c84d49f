// SPDX-License-Identifier: Apache-2.0
// Rows of the hidden site that are made from neighbours.
#pragma once

#include <cstddef>
#include <vector>

#include "locus/add.h"
#include "locus/site.h"

namespace locus {

inline std::byte* at(const HiddenView& view, std::int64_t batch, std::int64_t token) {
  const std::int64_t index = batch * view.batch_stride + token * view.token_stride;
  return static_cast<std::byte*>(view.data) + index * static_cast<std::int64_t>(size_of(view.type));
}

/// Tokens of one batch row whose ids follow each other.
struct IdRun {
  std::int64_t batch, first, tokens;
};
std::vector<IdRun> id_runs(const HiddenView& view, const PositionIds& ids);

/// Returns what the convolution reads for a run, normalised, with zeros around it: [tokens + kernel - 1][dim].
template <class Real>
std::vector<Real> run_inputs(const HiddenRows& hidden, const HiddenView& view, const IdRun& run);

/// The weights as the kernel reads them, in float32: [groups][kernel][inputs of a group][outputs of a group].
struct NeighbourPlan {
  explicit NeighbourPlan(const HiddenRows& hidden);
  std::vector<float> weights, bias;
};

/// add() for an encoding with neighbours; the call is checked.
void add_from_neighbours(const HiddenRows& hidden, const NeighbourPlan& plan, const HiddenView& view,
                         const PositionIds& ids, Executor* executor);
/// add_backward() of a checked call.
void add_from_neighbours_backward(const HiddenRows& hidden, const AddGradientCall& call, const PositionIds& ids);

}  // namespace locus
