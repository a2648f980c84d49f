// SPDX-License-Identifier: Apache-2.0
// rotate(x, positions, rotary_dim): a slice is rotated, with its own exponents; the rest stays.
#include <cmath>

#include "learn/laws/compare.h"
#include "learn/laws/laws.h"
#include "learn/laws/plain_rope.h"
#include "learn/laws/rotation.h"

namespace locus::learn {

void laws_of_partial_rope(Solution& solution) {
  using namespace rotation;
  constexpr std::int64_t width = 4;
  const auto rotate = [&](const Array& x, const Ids& positions) {
    return solution.call("rotate", {x, Array::ids(positions), Array::number(width)}, x.shape);
  };
  Random random(22);
  const Array x = random_array(random, {tokens, heads, dim});
  const Array turned = rotate(x, ids);
  const std::string cause = likely_cause(
      turned.values,
      {{"partial.all_rotated", [&] { return plain_rope(x, ids, {.half = true}); }},
       {"partial.exponents_of_whole_head", [&] {
          return plain_rope(x, ids, {.half = true, .width = width, .angle = [](double p, std::int64_t i, std::int64_t) {
                                       return p * std::pow(10000.0, -2.0 * static_cast<double>(i) / dim);
                                     }});
        }}});
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    if (static_cast<std::int64_t>(i % dim) < width || agree(x.values[i], turned.values[i])) continue;
    const bool zero = agree(turned.values[i], 0);
    Parameters parameters = place_of(i / dim, ids);
    parameters["coordinate"] = shown(i % dim);
    throw BrokenLaw{"partial.rest",
                    zero            ? "partial.rest_lost"
                    : cause.empty() ? "partial.wrong_end"
                                    : cause,
                    parameters};
  }
  if (!cause.empty()) throw BrokenLaw{"rope.angles", cause, place_of(2, ids)};
  check_rotation(rope(true, width), true, width, rotate);
  for (const std::int64_t other : {std::int64_t{2}, dim}) {
    const Array again = solution.call("rotate", {x, Array::ids(ids), Array::number(other)}, x.shape);
    require_equal(again.values, rotated(rope(true, other), x, ids), "partial.width", "",
                  [&](std::size_t index) { return place_of(index / dim, ids); });
  }
}

}  // namespace locus::learn
