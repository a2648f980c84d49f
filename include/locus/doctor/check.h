// SPDX-License-Identifier: Apache-2.0
// One line of a verification: what was measured, the bound that theory gives, and whether it held.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace locus {

struct Check {
  std::string name;    ///< what is claimed, e.g. "decode = prefill"
  std::string scheme;  ///< the encoding it was asked of
  double value = 0;    ///< measured
  double bound = 0;    ///< what `value` is held against; `note` says from where, where it is not obvious
  bool pass = false;
  std::string note;  ///< numbers to print beside it; after a failure, where it diverges first and the likely cause
};

/// Passes where value <= bound; NaN fails.
Check at_most(std::string name, std::string scheme, double value, double bound, std::string note = {});

/// Passes where value >= bound: the difference that theory predicts is there. NaN fails.
Check at_least(std::string name, std::string scheme, double value, double bound, std::string note = {});

inline std::int64_t failed(const std::vector<Check>& checks) {
  return std::count_if(checks.begin(), checks.end(), [](const Check& check) { return !check.pass; });
}

}  // namespace locus
