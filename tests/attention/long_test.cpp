// SPDX-License-Identifier: Apache-2.0
// 131,072 tokens, one head of 64: attention must not allocate queries x keys, which would be 64 GB here.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "locus/attention.h"

namespace locus {
namespace {

constexpr std::int64_t tokens = 131072;
constexpr std::int64_t dim = 64;
constexpr std::int64_t window = 64;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;  // freed memory is kept for a while
#else
constexpr bool sanitized = false;
#endif

std::int64_t peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

std::vector<float> noise(std::uint32_t seed) {
  std::vector<float> values(static_cast<std::size_t>(tokens * dim));
  std::uint32_t state = seed;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
  }
  return values;
}

// One output row by the definition, in double.
std::vector<double> expected_row(const std::vector<float>& q, const std::vector<float>& k, const std::vector<float>& v,
                                 std::int64_t query, double slope) {
  std::vector<double> row(dim, 0.0);
  double total = 0;
  for (std::int64_t key = std::max<std::int64_t>(0, query - window + 1); key <= query; ++key) {
    double score = 0;
    for (std::int64_t j = 0; j < dim; ++j) {
      score += static_cast<double>(q[static_cast<std::size_t>(query * dim + j)]) *
               static_cast<double>(k[static_cast<std::size_t>(key * dim + j)]);
    }
    const double weight =
        std::exp(score / std::sqrt(static_cast<double>(dim)) - slope * static_cast<double>(query - key));
    total += weight;
    for (std::int64_t j = 0; j < dim; ++j) {
      row[static_cast<std::size_t>(j)] += weight * static_cast<double>(v[static_cast<std::size_t>(key * dim + j)]);
    }
  }
  for (double& value : row) value /= total;
  return row;
}

TEST(LongAttention, UsesLinearMemory) {
  std::vector<float> q = noise(1), k = noise(2), v = noise(3), out(q.size(), 0.0f);
  const auto view = [](std::vector<float>& values) {
    return heads_view(values.data(), ElementType::float32, "thd", {{tokens, 1, dim}});
  };
  const Encoding alibi("alibi", {{"heads", std::int64_t{1}}});
  AttentionCall call{.query = view(q), .key = view(k), .value = view(v), .output = view(out), .encoding = &alibi};
  call.mask.causal = true;
  call.mask.window = window;
  const std::int64_t before = peak_kilobytes();
  attend(call);
  // Packed keys and values, and the bias by offset: three tensors of 32 MB are more than enough.
  if (!sanitized) {
    EXPECT_LT(peak_kilobytes() - before, 3 * 32 * 1024);
  }
  // The bound of attention.h without skipped blocks: scores below 64 / 8 + 1, values below 1, and 64 keys.
  const double bound = (2 * (dim + 16) * 9.0 + 4 * window + 16) * 0x1p-24 + 0x1p-24;
  for (const std::int64_t query : {std::int64_t{0}, window - 1, std::int64_t{65536}, tokens - 1}) {
    const std::vector<double> expected = expected_row(q, k, v, query, 0x1p-8);
    for (std::int64_t j = 0; j < dim; ++j) {
      EXPECT_NEAR(static_cast<double>(out[static_cast<std::size_t>(query * dim + j)]),
                  expected[static_cast<std::size_t>(j)], bound)
          << query << ' ' << j;
    }
  }
}

}  // namespace
}  // namespace locus
