// SPDX-License-Identifier: Apache-2.0
// Replaces an engine's cos/sin table of float32 angles by an exact one of the same layout: [position, pair].
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "locus/locus.h"

int main() {
  constexpr std::int64_t head_dim = 128, pairs = head_dim / 2, count = 16, first = 1'000'000;
  const locus::Encoding rope("rope", {{"head_dim", head_dim}, {"pairing", "half"}, {"base", 1e4}});

  // What most engines do.
  std::vector<float> engine_cos, engine_sin;
  for (std::int64_t p = first; p < first + count; ++p) {
    for (std::int64_t i = 0; i < pairs; ++i) {
      const float frequency = std::pow(1e4f, -2.0f * static_cast<float>(i) / static_cast<float>(head_dim));
      engine_cos.push_back(std::cos(static_cast<float>(p) * frequency));
      engine_sin.push_back(std::sin(static_cast<float>(p) * frequency));
    }
  }

  // The exact rows [cos | sin], copied into the engine's two tables.
  std::vector<float> rows(count * 2 * pairs);
  locus::rotation_rows(rope.rotation(), first, count, rows.data());
  std::vector<float> exact_cos, exact_sin;
  for (auto row = rows.begin(); row != rows.end(); row += 2 * pairs) {
    exact_cos.insert(exact_cos.end(), row, row + pairs);
    exact_sin.insert(exact_sin.end(), row + pairs, row + 2 * pairs);
  }

  // The truth for pair 0, whose frequency is 1: cos(p) in double.
  float engine_error = 0, exact_error = 0, difference = 0;
  for (std::size_t t = 0; t < count; ++t) {
    const double truth = std::cos(static_cast<double>(first) + static_cast<double>(t));
    exact_error = std::max(exact_error, static_cast<float>(std::abs(truth - double{exact_cos[t * pairs]})));
  }
  for (std::size_t i = 0; i < exact_cos.size(); ++i) {
    engine_error = std::max(engine_error, std::abs(engine_cos[i] - exact_cos[i]));
    difference = std::max(difference, std::abs(engine_sin[i] - exact_sin[i]));
  }
  std::printf("at position %lld: float32 angles are off by %.2g (cos) and %.2g (sin), the exact table by %.2g\n",
              static_cast<long long>(first), engine_error, difference, exact_error);
  return exact_error < 6e-8f && engine_error > 1e-3f ? 0 : 1;
}
