// SPDX-License-Identifier: Apache-2.0
// Unbounded text through a bounded cache: the first tokens (attention sinks) and the most recent ones stay.
#include <numeric>

#include "positions/checks.h"

namespace locus::positions {

Streaming streaming(std::int64_t seen, std::int64_t sinks, std::int64_t window) {
  require_at_least("streaming.seen", seen, 0);
  require_at_least("streaming.sinks", sinks, 0);
  require_at_least("streaming.window", window, 1);
  const bool all_fit = seen <= window || seen - window <= sinks;  // seen <= sinks + window could overflow
  const std::int64_t count = all_fit ? seen : sinks + window;

  Streaming result{checked_vector<std::int64_t>("streaming", checked_count("streaming", count, 1)), prefill(count)};
  const std::int64_t leading = all_fit ? count : sinks;
  const auto recent = result.kept.begin() + leading;
  std::iota(result.kept.begin(), recent, std::int64_t{0});
  std::iota(recent, result.kept.end(), seen - (count - leading));
  return result;
}

}  // namespace locus::positions
