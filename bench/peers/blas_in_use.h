// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace locus::bench {

/// Returns the file that sgemm comes from in this process.
std::string blas_in_use();

}  // namespace locus::bench
