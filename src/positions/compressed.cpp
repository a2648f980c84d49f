// SPDX-License-Identifier: Apache-2.0
// Keys that stand for several tokens each: rotated at their first token, visible from their last one on.
#include "positions/checks.h"

namespace locus::positions {

Compressed compressed(std::int64_t entries, std::int64_t rate) {
  require_at_least("compressed.entries", entries, 0);
  require_at_least("compressed.rate", rate, 1);
  require(entries <= std::numeric_limits<Position>::max() / rate, "compressed ids must fit into 64 bits, got ", entries,
          " x ", rate);
  Compressed plan{make_ids("compressed", 1, 1, entries), checked_vector<Position>("compressed", entries)};
  for (std::int64_t i = 0; i < entries; ++i) {
    plan.ids.ids[static_cast<std::size_t>(i)] = i * rate;
    plan.visible_from[static_cast<std::size_t>(i)] = (i + 1) * rate - 1;
  }
  return plan;
}

std::vector<std::uint8_t> compressed_visible(const Compressed& plan, std::span<const Position> queries) {
  const auto entries = static_cast<std::int64_t>(plan.visible_from.size());
  const std::int64_t count = checked_count("compressed_visible", static_cast<std::int64_t>(queries.size()), entries);
  auto visible = checked_vector<std::uint8_t>("compressed_visible", count);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    for (std::size_t i = 0; i < plan.visible_from.size(); ++i) {
      visible[q * plan.visible_from.size() + i] = queries[q] >= plan.visible_from[i] ? 1 : 0;
    }
  }
  return visible;
}

}  // namespace locus::positions
