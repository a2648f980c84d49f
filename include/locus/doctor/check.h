// SPDX-License-Identifier: Apache-2.0
// One check of a verification: the measured value, the bound from theory, and whether it held.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace locus {

struct Check {
  std::string name;    ///< what must hold, e.g. "decode = prefill"
  std::string scheme;  ///< the encoding under test
  double value = 0;    ///< measured
  double bound = 0;    ///< what `value` is compared with; `note` explains a bound that is not obvious
  bool pass = false;
  std::string note;  ///< further numbers; after a failure, where it diverges first and the likely cause
};

/// Passes if value <= bound; NaN fails.
Check at_most(std::string name, std::string scheme, double value, double bound, std::string note = {});

/// Passes if value >= bound: a difference that theory predicts is present. NaN fails.
Check at_least(std::string name, std::string scheme, double value, double bound, std::string note = {});

/// Returns the number of failed checks.
inline std::int64_t failed(const std::vector<Check>& checks) {
  return std::count_if(checks.begin(), checks.end(), [](const Check& check) { return !check.pass; });
}

}  // namespace locus
