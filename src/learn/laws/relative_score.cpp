// SPDX-License-Identifier: Apache-2.0
// relative_score(q, k, r): the dot product of the rotated vectors, from the offset alone.
#include "learn/laws/compare.h"
#include "learn/laws/laws.h"
#include "learn/laws/plain_rope.h"
#include "learn/laws/rotation.h"

namespace locus::learn {

void laws_of_relative_score(Solution& solution) {
  using namespace rotation;
  Random random(24);
  const Array x = random_array(random, {2, 1, dim});
  const Array q = Array::real({dim}, {x.values.begin(), x.values.begin() + dim});
  const Array k = Array::real({dim}, {x.values.begin() + dim, x.values.end()});
  const auto score = [&](std::int64_t offset) {
    return solution.call("relative_score", {q, k, Array::number(offset)}, {}).values.at(0);
  };
  const auto rotated_dot = [&](std::int64_t i, std::int64_t j, bool half) {
    const std::vector<double> both = plain_rope(x, {i, j}, {.half = half});
    return dot(both.data(), both.data() + dim);
  };
  const auto turned = [](auto value) { return [value] { return std::vector<double>{value}; }; };
  const double three = score(3);
  const std::string cause = likely_cause({three}, {{"relative.sign", turned(rotated_dot(0, 3, true))},
                                                   {"fault.wrong_pairing", turned(rotated_dot(3, 0, false))},
                                                   {"relative.plain", turned(rotated_dot(0, 0, true))}});
  if (!agree(score(0), rotated_dot(0, 0, true))) throw BrokenLaw{"relative.zero", cause};
  for (const auto& [i, j] : {std::pair<std::int64_t, std::int64_t>{3, 0}, {7, 4}, {103, 100}, {2, 7}, {40, 0}}) {
    // q at i and k at j, rotated and multiplied, is what r = i - j alone must give.
    const double got = score(i - j);
    if (agree(got, rotated_dot(i, j, true))) continue;
    const bool sign_lost = cause.empty() && i < j && agree(got, rotated_dot(j, i, true));
    throw BrokenLaw{"relative.identity",
                    sign_lost ? "relative.absolute" : cause,
                    {{"query", shown(i)}, {"key", shown(j)}, {"offset", shown(i - j)}}};
  }
}

}  // namespace locus::learn
