// SPDX-License-Identifier: Apache-2.0
// The hidden kernel: adds position rows to hidden states.
#pragma once

#include <cstdint>

#include "locus/element.h"
#include "locus/encoding.h"
#include "locus/executor.h"
#include "locus/position_ids.h"

namespace locus {

/// Where hidden states lie: element (b, t, j) is at `data + b * batch_stride + t * token_stride + j`.
struct HiddenView {
  void* data = nullptr;
  ElementType type = ElementType::float32;
  std::int64_t batch = 1;
  std::int64_t tokens = 0;
  std::int64_t dim = 0;
  std::int64_t batch_stride = 0;
  std::int64_t token_stride = 0;
};

/// Adds the row of each token's id, in place. `ids` has one axis and one batch row or one per batch row of the view.
/// Rows in float32 (float64 for float64), one rounding to the element type. On Error nothing is written. No table of
/// sinusoids is made: rows come one at a time. Large calls are spread over the executor, if any.
void add(const Encoding& encoding, const HiddenView& view, const PositionIds& ids, Executor* executor = nullptr);

}  // namespace locus
