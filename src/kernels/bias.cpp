// SPDX-License-Identifier: Apache-2.0
#include "locus/bias.h"

#include <algorithm>

#include "locus/error.h"

namespace locus {
namespace {

// The range of offsets key - query, if it is small enough for a Toeplitz vector.
struct Offsets {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

Offsets offsets_between(std::span<const Position> queries, std::span<const Position> keys) {
  const auto [first_query, last_query] = std::minmax_element(queries.begin(), queries.end());
  const auto [first_key, last_key] = std::minmax_element(keys.begin(), keys.end());
  const std::int64_t first = *first_key - *last_query;
  return {first, *last_key - *first_query - first + 1};
}

}  // namespace

std::vector<double> bias_matrix(const Encoding& encoding, std::span<const Position> queries,
                                std::span<const Position> keys) {
  const ScoreBias& bias = encoding.score();
  encoding.check_positions(queries);
  encoding.check_positions(keys);
  std::vector<double> result;
  result.reserve(static_cast<std::size_t>(bias.heads) * queries.size() * keys.size());
  if (queries.empty() || keys.empty()) return result;
  const Offsets offsets = offsets_between(queries, keys);
  const bool dense = static_cast<std::uint64_t>(offsets.count) <= queries.size() * keys.size();
  std::vector<double> by_offset;
  for (std::int64_t head = 0; head < bias.heads; ++head) {
    if (bias.toeplitz && dense) {
      by_offset.clear();
      for (std::int64_t i = 0; i < offsets.count; ++i) by_offset.push_back(bias.value(head, 0, offsets.first + i));
    }
    for (const Position query : queries) {
      for (const Position key : keys) {
        result.push_back(by_offset.empty() ? bias.value(head, query, key)
                                           : by_offset[static_cast<std::size_t>(key - query - offsets.first)]);
      }
    }
  }
  return result;
}

std::vector<std::int64_t> bucket_matrix(const Encoding& encoding, std::span<const Position> queries,
                                        std::span<const Position> keys) {
  const ScoreBias& bias = encoding.score();
  require(bias.bucket != nullptr, encoding.scheme().name, " has no buckets");
  encoding.check_positions(queries);
  encoding.check_positions(keys);
  std::vector<std::int64_t> result;
  result.reserve(queries.size() * keys.size());
  for (const Position query : queries) {
    for (const Position key : keys) result.push_back(bias.bucket(query, key));
  }
  return result;
}

}  // namespace locus
