// SPDX-License-Identifier: Apache-2.0
// Masks: which keys a query sees, individually and as ranges.
#include <algorithm>

#include "attention/problem.h"

namespace locus {
namespace {

// A prefix and sinks begin at place 0; keys before that are ordinary keys.
bool is_first(Position place, std::int64_t count) { return place >= 0 && place < count; }

}  // namespace

bool Problem::sees(const Document& s, std::int64_t head, std::int64_t query, std::int64_t key) const {
  const Mask& mask = call_.mask;
  const Position at = s.query_places[static_cast<std::size_t>(query)];
  const Position other = s.key_places[static_cast<std::size_t>(key)];
  if (mask.causal && other > at && !is_first(other, mask.prefix)) return false;
  const Position distance = at < other ? other - at : at - other;
  if (mask.window > 0 && distance >= mask.window && !is_first(other, mask.sinks)) return false;
  const std::int64_t queries = call_.query.tokens, keys = call_.key.tokens;
  const std::int64_t i = s.first_query + query, j = s.first_key + key;
  if (!mask.keys.empty()) {
    const std::int64_t row = static_cast<std::int64_t>(mask.keys.size()) == keys ? 0 : s.batch;
    if (mask.keys[static_cast<std::size_t>(row * keys + j)] == 0) return false;
  }
  if (!mask.pairs.empty()) {
    const std::int64_t row = static_cast<std::int64_t>(mask.pairs.size()) == queries * keys ? 0 : s.batch;
    if (mask.pairs[static_cast<std::size_t>((row * queries + i) * keys + j)] == 0) return false;
  }
  return mask.custom == nullptr || mask.custom(s.batch, head, i, j);
}

bool Problem::future_unseen() const {
  return call_.mask.causal && call_.mask.prefix == 0 && !call_.mask.by_index && shard_.query_places.empty();
}

// Places rise, and none precedes a prefix or sinks, so every condition on a place is a range of keys.
VisibleRange Problem::visible_range(const Document& s, std::int64_t query) const {
  const Mask& mask = call_.mask;
  const auto keys_below = [&](Position place) {
    if (s.places_advance && s.keys > 0) return std::clamp<std::int64_t>(place - s.key_places[0], 0, s.keys);
    return static_cast<std::int64_t>(std::lower_bound(s.key_places.begin(), s.key_places.end(), place) -
                                     s.key_places.begin());
  };
  const Position at = s.query_places[static_cast<std::size_t>(query)];
  VisibleRange range{0, s.keys, 0};
  if (mask.causal) range.end = keys_below(mask.prefix > 0 ? std::max(at + 1, mask.prefix) : at + 1);
  if (mask.window > 0) {
    if (mask.sinks > 0) range.sinks_end = std::min(keys_below(mask.sinks), range.end);
    range.begin = keys_below(at - mask.window + 1);
    range.end = std::min(range.end, keys_below(at + mask.window));
    if (range.sinks_end >= range.begin) return {0, std::max(range.end, range.sinks_end), 0};
  }
  return range;
}

}  // namespace locus
