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

/// Returns what explains these slopes, most likely first. Empty: no known order of slopes. `relative` is the relative
/// rounding error to allow.
std::vector<SlopeOrder> name_slopes(const std::vector<double>& slopes, double relative);

}  // namespace locus::doctor
