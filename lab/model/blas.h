// SPDX-License-Identifier: Apache-2.0
// Identifies the BLAS behind libtorch, and refuses the reference BLAS, which is ten times slower.
#pragma once

#include <string>

namespace locus::lab {

/// Error: libtorch multiplies matrices at the speed of the reference BLAS. Sets one thread.
void require_fast_blas();

/// "OpenBLAS 0.3.21 ... Zen", or "unknown" for a BLAS that does not say; "1.13.1".
std::string blas_name();
std::string libtorch_version();

/// Everything in this process runs on one thread, BLAS included, so that numbers do not depend on the machine's cores.
void use_one_thread();

}  // namespace locus::lab
