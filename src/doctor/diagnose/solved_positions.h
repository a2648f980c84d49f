// SPDX-License-Identifier: Apache-2.0
// The position of every token, once frequencies are known: the integer at which all pairs stand as they were seen.
#pragma once

#include <vector>

#include "doctor/diagnose/turning.h"

namespace locus::doctor {

/// Frequencies to solve with.
struct Wheels {
  std::vector<double> w;      ///< radians per position
  std::vector<double> sigma;  ///< how far each may be off; empty: known
};

struct SolvedPositions {
  std::vector<Position> p;       ///< [rows]
  std::vector<bool> found;       ///< whether any position explains the row
  std::int64_t unexplained = 0;  ///< rows without one
};

/// RMS over the pairs of (angle seen - angle at p) / tolerance; float32 angles are tolerated.
double row_misfit(const Turning& turning, std::int64_t row, const Wheels& wheels, double p, double unit);

/// Tries `guess` and what follows from the token before; then, where `search` allows it, -4096 ... 2^17.
SolvedPositions solve_positions(const Turning& turning, std::int64_t tokens, const Wheels& wheels, double unit,
                                const std::vector<Position>& guess, bool search = true);

}  // namespace locus::doctor
