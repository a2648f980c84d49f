// SPDX-License-Identifier: Apache-2.0
// Starts to load memory that is read soon.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hwy/base.h"

namespace locus {

/// Starts to load `bytes` from `ahead` on into the L2 cache, which waits for more lines at once than the L1 cache does.
/// A call would move the vectors of the caller to memory: always inline.
HWY_INLINE void prefetch_bytes([[maybe_unused]] const std::byte* ahead, [[maybe_unused]] std::int64_t bytes) {
#if defined(__GNUC__) || defined(__clang__)
  for (std::int64_t line = 0; line < bytes; line += 64) __builtin_prefetch(ahead + line, 0, 2);
#endif
}

}  // namespace locus
