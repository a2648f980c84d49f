// SPDX-License-Identifier: Apache-2.0
// How large an array must be to come from main memory on this machine.
#pragma once

#include <cstddef>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace locus::bench {

/// Returns the size of the last-level cache, as the system reports it; 0 if it does not.
inline std::size_t last_level_cache_bytes() {
#if defined(_SC_LEVEL3_CACHE_SIZE)
  const long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
#else
  return 0;
#endif
}

/// Returns `least`, doubled until it is at least three times the last-level cache: in a loop over so many bytes, nearly
/// every line has left the cache when it is needed again.
inline std::size_t memory_bytes(std::size_t least = std::size_t{256} << 20) {
  while (least < 3 * last_level_cache_bytes()) least *= 2;
  return least;
}

}  // namespace locus::bench
