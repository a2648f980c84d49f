// SPDX-License-Identifier: Apache-2.0
// What the numbers were made on and with.
#pragma once

#include "run/json.h"

namespace locus::lab {

Json machine();      ///< {cpu, cores, memory_bytes, simd}
Json versions();     ///< {locus, compiler, sqlite}
int usable_cores();  ///< that this process may run on

}  // namespace locus::lab
