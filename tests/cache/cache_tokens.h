// SPDX-License-Identifier: Apache-2.0
// Tokens for tests of the cache, and how far a gathered key is from where it should be.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "locus/cache.h"
#include "locus/reference.h"

namespace locus::testing {

inline constexpr std::int64_t heads = 2;
inline constexpr std::int64_t dim = 16;

inline Encoding rope(const Arguments& more = {}) {
  Arguments arguments{{"head_dim", dim}, {"pairing", "half"}};
  for (const auto& [name, value] : more.all()) arguments.set(name, value);
  return Encoding("rope", arguments);
}

/// Tokens whose numbers depend on their index alone, in the cache's type.
template <class T>
std::vector<T> tokens_of(std::int64_t first, std::int64_t count) {
  std::vector<T> values;
  for (std::int64_t t = first; t < first + count; ++t) {
    std::mt19937 random(static_cast<unsigned>(t) + 1);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (std::int64_t j = 0; j < heads * dim; ++j) {
      const float value = uniform(random);
      if constexpr (std::is_same_v<T, float>) values.push_back(value);
      if constexpr (std::is_same_v<T, BFloat16>) values.push_back(to_bfloat16(value));
      if constexpr (std::is_same_v<T, Float16>) values.push_back(to_float16(value));
    }
  }
  return values;
}

template <class T>
HeadsView view_of(std::vector<T>& values) {
  const auto count = static_cast<std::int64_t>(values.size()) / (heads * dim);
  return heads_view(values.data(), element_type_of<T>, "thd", {{count, heads, dim}});
}

template <class T = float>
void append(KvCache& cache, SequenceId sequence, const std::vector<Position>& ids, std::int64_t first) {
  std::vector<T> keys = tokens_of<T>(first, static_cast<std::int64_t>(ids.size()));
  std::vector<T> values = tokens_of<T>(first + 1000, static_cast<std::int64_t>(ids.size()));
  cache.append(sequence, view_of(keys), view_of(values), ids);
}

inline std::vector<Position> range(Position first, std::int64_t count) {
  std::vector<Position> ids;
  for (std::int64_t i = 0; i < count; ++i) ids.push_back(first + i);
  return ids;
}

inline float number_at(const HeadsView& view, std::int64_t token, std::int64_t head, std::int64_t j) {
  const std::int64_t index = token * view.token_stride + head * view.head_stride + j;
  if (view.type == ElementType::float32) return static_cast<const float*>(view.data)[index];
  if (view.type == ElementType::bfloat16) return to_float(static_cast<const BFloat16*>(view.data)[index]);
  return to_float(static_cast<const Float16*>(view.data)[index]);
}

/// The largest difference between a gathered key and token `index` rotated to `position` by the double reference.
template <class T = float>
double key_error(const Encoding& encoding, const CachedSequence& gathered, std::int64_t token, std::int64_t index,
                 Position position) {
  const std::vector<T> raw = tokens_of<T>(index, 1);
  double worst = 0;
  for (std::int64_t h = 0; h < heads; ++h) {
    std::vector<double> head;
    for (std::int64_t j = 0; j < dim; ++j) {
      head.push_back(static_cast<double>(to_float(raw[static_cast<std::size_t>(h * dim + j)])));
    }
    const std::vector<double> turned =
        reference::rotate(encoding.rotation(), Role::key, Direction::forward, std::span(&position, 1), head);
    for (std::int64_t j = 0; j < dim; ++j) {
      worst = std::max(worst, std::fabs(static_cast<double>(number_at(gathered.keys, token, h, j)) -
                                        turned[static_cast<std::size_t>(j)]));
    }
  }
  return worst;
}

/// Unit roundoff of the type times the length of a pair (at most sqrt 2), plus float32's own: `roundings` of storage.
inline double bound(ElementType type, int roundings) {
  const double unit = type == ElementType::float32 ? 0x1p-24 : type == ElementType::bfloat16 ? 0x1p-8 : 0x1p-11;
  return 1.5 * (roundings * unit + 6 * 0x1p-24);
}

}  // namespace locus::testing
