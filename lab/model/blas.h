// SPDX-License-Identifier: Apache-2.0
// Identifies the BLAS behind libtorch, and refuses the reference BLAS, which is ten times slower.
#pragma once

#include <string>

namespace locus::lab {

/// Error: libtorch multiplies matrices at the speed of the reference BLAS. Sets one thread.
void require_fast_blas();

/// Return "OpenBLAS 0.3.21 ... Zen", or "unknown" if the BLAS has no version call; and "1.13.1".
std::string blas_name();
std::string libtorch_version();

/// Limits this process to one thread, BLAS included: numbers must not depend on the number of cores.
void use_one_thread();

}  // namespace locus::lab
