// SPDX-License-Identifier: Apache-2.0
// Training steps per second of the model on the library's kernels and of the same model in torch's own operations.
#pragma once

#include <string>
#include <vector>

#include "trial.h"

namespace locus::lab {

struct SpeedOfScheme {
  std::string scheme;
  double steps_per_second = 0;
  double torch_steps_per_second = 0;  ///< 0 if the baseline does not know the scheme
  double ratio() const { return torch_steps_per_second > 0 ? steps_per_second / torch_steps_per_second : 0; }
};

/// Trains `spec` with each of the schemes for about `seconds` (at least 5 steps), alternating between our steps and
/// torch's, on one thread. The numbers come from the median step in processor time, which does not depend on other
/// load.
std::vector<SpeedOfScheme> compare_speed(TrialSpec spec, const std::vector<std::string>& schemes, double seconds);

/// Returns the geometric mean of the known ratios.
double mean_ratio(const std::vector<SpeedOfScheme>& speeds);

}  // namespace locus::lab
