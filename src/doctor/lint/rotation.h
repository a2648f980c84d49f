// SPDX-License-Identifier: Apache-2.0
// The effect of a rotation: the angle and the magnitude of each pair at one position.
#pragma once

#include <vector>

#include "locus/encoding.h"

namespace locus::doctor {

struct RotationSeen {
  std::vector<double> angle;  ///< at position 1 of a text, in radians: the frequency, from whatever table
  double magnitude = 1;
};

RotationSeen see_rotation(const Rotation& rotation);

/// The first pair whose frequency differs by more than `share` of the larger one, and the relative difference of the
/// worst pair.
struct FrequencyDifference {
  std::int64_t first = -1;  ///< -1: none
  std::int64_t worst = -1;
  double worst_share = 0;
};
FrequencyDifference compare_frequencies(const std::vector<double>& a, const std::vector<double>& b, double share);

}  // namespace locus::doctor
