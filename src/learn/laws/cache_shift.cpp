// SPDX-License-Identifier: Apache-2.0
// shift_keys(keys, old, new): keys that were rotated before, turned to where they are now.
#include "learn/laws/compare.h"
#include "learn/laws/laws.h"
#include "learn/laws/plain_rope.h"
#include "learn/laws/rotation.h"

namespace locus::learn {

void laws_of_cache_shift(Solution& solution) {
  using namespace rotation;
  Random random(23);
  const Encoding encoding = rope(true);
  const Array x = random_array(random, {tokens, heads, dim});
  const Ids now = {20, 21, 22, 23, 25, 29, 37, 60};
  Array cached = x;
  cached.values = rotated(encoding, x, ids);
  const auto shift = [&](const Array& keys, const Ids& from, const Ids& to) {
    return solution.call("shift_keys", {keys, Array::ids(from), Array::ids(to)}, keys.shape);
  };
  const auto turned_by = [&](const auto& amount) {
    return [&, amount] {
      Ids by;
      for (std::size_t i = 0; i < ids.size(); ++i) by.push_back(amount(i));
      return plain_rope(cached, by, {.half = true});
    };
  };
  const Array shifted = shift(cached, ids, now);
  const std::string cause = likely_cause(
      shifted.values, {{"cache.rotated_again", turned_by([&](std::size_t i) { return now[i]; })},
                       {"cache.backwards", turned_by([&](std::size_t i) { return ids[i] - now[i]; })},
                       {"cache.by_index", turned_by([](std::size_t i) { return static_cast<std::int64_t>(i); })},
                       {"cache.not_moved", [&] { return cached.values; }},
                       {"fault.wrong_pairing", [&] {
                          Ids by(ids.size(), 20);
                          return plain_rope(cached, by, {.half = false});
                        }}});
  const Array still = shift(cached, ids, ids);
  require_equal(still.values, cached.values, "cache.zero", cause,
                [&](std::size_t i) { return place_of(i / dim, ids); });
  check_norms(cached, shifted, now, cause);
  require_equal(shifted.values, rotated(encoding, x, now), "cache.fresh", cause,
                [&](std::size_t i) { return place_of(i / dim, now); });

  // A gap: each key moves by its own amount.
  const Ids gap = {0, 1, 2, 3, 4, 5, 6, 7};
  const Array closed = shift(cached, ids, gap);
  require_equal(closed.values, rotated(encoding, x, gap), "cache.gap", "cache.one_amount",
                [&](std::size_t i) { return place_of(i / dim, gap); });
}

}  // namespace locus::learn
