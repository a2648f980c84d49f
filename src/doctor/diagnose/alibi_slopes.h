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

/// How far a slope may be off: by rounding, and by noise.
struct SlopeError {
  double relative = 0;
  double absolute = 0;
};

/// What explains these slopes, likeliest first; empty: none of the known orders.
std::vector<SlopeOrder> name_slopes(const std::vector<double>& slopes, const SlopeError& error);

}  // namespace locus::doctor
