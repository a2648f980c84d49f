// SPDX-License-Identifier: Apache-2.0
// What the commands that take .npy arrays share.
#pragma once

#include <string>

#include "locus/element.h"
#include "locus/io/npy.h"

namespace locus::tools {

/// The element type that kernels know an array by; Error naming the file where they do not take it.
ElementType element_type(io::NpyType type, const std::string& path);

}  // namespace locus::tools
