// SPDX-License-Identifier: Apache-2.0
// Recognizes ALiBi's slopes and the known ways to get them wrong.
#pragma once

#include <string>
#include <vector>

namespace locus::doctor {

struct SlopeOrder {
  std::string name;  ///< "alibi" if the slopes are right; otherwise the fault
  std::string text;
};

/// The error to allow in a slope: relative for rounding, absolute for noise.
struct SlopeError {
  double relative = 0;
  double absolute = 0;
};

/// Returns what explains these slopes, most likely first. Empty: no known order of slopes.
std::vector<SlopeOrder> name_slopes(const std::vector<double>& slopes, const SlopeError& error);

}  // namespace locus::doctor
