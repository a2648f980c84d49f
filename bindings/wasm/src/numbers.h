// SPDX-License-Identifier: Apache-2.0
// The functions of the module that locus.js calls; locus.d.ts describes them as users see them.
#pragma once

#include "javascript.h"

namespace locus::wasm {

val position_range(const val& chosen);
val rows(const val& chosen, const val& positions);
val similarity(const val& chosen, const val& positions);
val bias(const val& chosen, const val& queries, const val& keys);
val buckets(const val& chosen, const val& queries, const val& keys);

val rotate_heads(const val& chosen, const val& request);
val attend_heads(const val& chosen, const val& request);
val score_parts(const val& chosen, const val& request);

val run_command(const val& words);

}  // namespace locus::wasm
