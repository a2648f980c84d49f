// SPDX-License-Identifier: Apache-2.0
// The results for a reader at a terminal. Made of the results' object and of nothing else.
#pragma once

#include <string>

#include "run/json.h"

namespace locus::lab {

/// Per task the ranked table with intervals and the lines that did not learn, the depth x length grid where there is
/// one, and the comparison with the baseline; then the papers' claims and the budget.
std::string summary_text(const Json& results);

}  // namespace locus::lab
