// SPDX-License-Identifier: Apache-2.0
// cos and sin of the query_key site, for figures.
#pragma once

#include <vector>

#include "locus/encoding.h"

namespace locus::figures {

/// What the pair (1, 0) becomes at a position: (cos, sin) times magnitude and scale, one entry per pair.
struct TurnedPairs {
  std::vector<double> cos, sin;
};

/// Computes in double. The token has the same id on every axis. Error: a position out of range.
TurnedPairs turned_pairs(const Encoding& encoding, Role role, Position position);

}  // namespace locus::figures
