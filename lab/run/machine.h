// SPDX-License-Identifier: Apache-2.0
// Describes the machine and the software that numbers depend on.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results/results.h"

namespace locus::lab {

results::Machine machine();
std::vector<std::pair<std::string, std::string>> versions();  ///< of Locus, the compiler and SQLite
int usable_cores();                                           ///< cores that this process may run on

/// Returns the kind of machine, on which a trial's last bits may depend: SIMD target and libraries, e.g. "AVX2,
/// libtorch 1.13.1, blas OpenBLAS 0.3.21 Haswell".
std::string machine_kind(const std::vector<std::pair<std::string, std::string>>& libraries);

}  // namespace locus::lab
