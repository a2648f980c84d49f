// SPDX-License-Identifier: Apache-2.0
// Formats results for a terminal.
#pragma once

#include <string>

#include "results/results.h"

namespace locus::lab {

/// The ranking over tasks; per task its table with intervals, the lines that did not learn it, depth by length if
/// there are depths, and the comparison with the baseline; then the paper claims and the budget.
std::string summary_text(const results::Results& results);

}  // namespace locus::lab
