// SPDX-License-Identifier: Apache-2.0
// The machine and the software that numbers come from.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results/results.h"

namespace locus::lab {

results::Machine machine();
std::vector<std::pair<std::string, std::string>> versions();  ///< of Locus, the compiler and SQLite
int usable_cores();                                           ///< cores that this process may run on

}  // namespace locus::lab
