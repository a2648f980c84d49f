// SPDX-License-Identifier: Apache-2.0
// Stores a row of doubles as a row of a tensor, rounded once.
#pragma once

#include <vector>

#include "attention/problem.h"

namespace locus {

/// A token of a head of a tensor.
struct RowPlace {
  std::int64_t batch = 0, token = 0, head = 0;
};

inline void store_row(const double* row, const HeadsView& view, const RowPlace& place) {
  std::byte* to = Problem::row(view, place.batch, place.token, place.head);
  for (std::int64_t j = 0; j < view.head_dim; ++j) {
    const auto single = static_cast<float>(row[j]);
    if (view.type == ElementType::float64) reinterpret_cast<double*>(to)[j] = row[j];
    if (view.type == ElementType::float32) reinterpret_cast<float*>(to)[j] = single;
    if (view.type == ElementType::bfloat16) reinterpret_cast<BFloat16*>(to)[j] = to_bfloat16(single);
    if (view.type == ElementType::float16) reinterpret_cast<Float16*>(to)[j] = to_float16(single);
  }
}

}  // namespace locus
