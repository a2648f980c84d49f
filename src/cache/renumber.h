// SPDX-License-Identifier: Apache-2.0
// New positions of the tokens that stay when a window slides.
#pragma once

#include <vector>

#include "locus/position_ids.h"

namespace locus {

struct SlidIds {
  std::vector<Position> sinks, window;  ///< [axes][tokens]
};

/// One axis: 0, 1, ... over both. Several axes: the sinks move to begin at 0 and the window to begin above the largest
/// id of the sinks, each by one difference for all axes.
SlidIds renumbered(std::vector<Position> sinks, std::vector<Position> window, std::int64_t axes);

}  // namespace locus
