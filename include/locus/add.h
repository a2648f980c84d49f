// SPDX-License-Identifier: Apache-2.0
// The hidden kernel: adds position rows to hidden states.
#pragma once

#include <cstdint>
#include <span>

#include "locus/element.h"
#include "locus/encoding.h"
#include "locus/executor.h"
#include "locus/position_ids.h"

namespace locus {

/// The memory layout of hidden states: element (b, t, j) is at `data + b * batch_stride + t * token_stride + j`.
struct HiddenView {
  void* data = nullptr;
  ElementType type = ElementType::float32;
  std::int64_t batch = 1;
  std::int64_t tokens = 0;
  std::int64_t dim = 0;
  std::int64_t batch_stride = 0;
  std::int64_t token_stride = 0;
};

/// Adds to each token's vector the row of its id, in place. Computes in float32 (float64 for float64) and rounds once
/// to the element type. Splits large calls over the executor, if there is one.
/// Error: a site other than hidden, shapes that do not match, an id out of range. Nothing is written then.
/// Range: `ids` has one axis, and one batch row or as many as the view.
/// Where rows are made from neighbours (HiddenRows::neighbours), these are the tokens before and after it in the view
/// whose ids follow each other: a jump of the ids, as between packed documents, ends the neighbourhood. Accuracy there:
/// n + 4 float32 roundings of the sum of the absolute values of its n = dim / groups x kernel products.
/// Cost: one row and one addition per token. Sinusoidal rows are computed one at a time; no table is built.
void add(const Encoding& encoding, const HiddenView& view, const PositionIds& ids, Executor* executor = nullptr);

/// The backward pass of add() where rows are made from neighbours. (Other rows do not depend on the tokens' vectors.)
struct AddGradientCall {
  HiddenView input;            ///< what add() took
  HiddenView output_gradient;  ///< of what it wrote
  HiddenView input_gradient;   ///< written completely; may be output_gradient's place, not that of `input`
  std::span<double> weight = {},
                    bias = {};  ///< gradients of Neighbours::weight and bias, added to; empty: not computed
};

/// Error: an encoding without neighbours, shapes, types or sizes that do not match, as add(). Nothing is written then.
/// Accuracy: computes in double, then one rounding to the element type.
/// Cost: about four times that of the products of add(), on one thread.
void add_backward(const Encoding& encoding, const AddGradientCall& call, const PositionIds& ids);

}  // namespace locus
