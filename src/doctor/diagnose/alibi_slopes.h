// SPDX-License-Identifier: Apache-2.0
// ALiBi's slopes as they should be, and as they are known to go wrong.
#pragma once

#include <string>
#include <vector>

namespace locus::doctor {

struct SlopeOrder {
  std::string name;  ///< "alibi" where the slopes are right; else the fault
  std::string text;
};

/// What explains these slopes, likeliest first; empty: none of the known orders. `relative` is the rounding to allow.
std::vector<SlopeOrder> name_slopes(const std::vector<double>& slopes, double relative);

}  // namespace locus::doctor
