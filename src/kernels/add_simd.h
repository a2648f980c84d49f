// SPDX-License-Identifier: Apache-2.0
// The boundary between the add entry point and its SIMD targets: one row.
#pragma once

#include <cstddef>

#include "locus/element.h"

namespace locus {

/// values[j] += row[j], in float32, rounded once to the type (float32, bfloat16 or float16).
void add_row(ElementType type, const float* row, std::size_t dim, void* values);

}  // namespace locus
