// SPDX-License-Identifier: Apache-2.0
// Solves the position of each token from known frequencies: the integer that gives the measured angles of all pairs.
#pragma once

#include <vector>

#include "doctor/diagnose/turning.h"

namespace locus::doctor {

/// Frequencies to solve with.
struct Wheels {
  std::vector<double> w;      ///< radians per position
  std::vector<double> sigma;  ///< standard deviation of each; empty: exactly known
};

struct SolvedPositions {
  std::vector<Position> p;       ///< [rows]
  std::vector<bool> found;       ///< true if a position explains the row
  std::int64_t unexplained = 0;  ///< rows without a position
};

/// Returns the RMS over the pairs of (measured angle - angle at p) / tolerance. The tolerance includes the error of
/// float32 angles.
double row_misfit(const Turning& turning, std::int64_t row, const Wheels& wheels, double p, double unit);

/// Tries `guess` and the successor of the previous token. With `search`, also tries -4096 ... 2^17.
SolvedPositions solve_positions(const Turning& turning, std::int64_t tokens, const Wheels& wheels, double unit,
                                const std::vector<Position>& guess, bool search = true);

}  // namespace locus::doctor
