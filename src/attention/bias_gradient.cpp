// SPDX-License-Identifier: Apache-2.0
#include "attention/term_gradients.h"

namespace locus {

BiasGradient::BiasGradient(const Problem& problem, const Document& document, std::int64_t head, LearnedSums& learned)
    : problem_(problem), document_(document), head_(head), learned_(learned) {
  if (!learned.wants_bias() || document.keys == 0 || !document.ids_advance || !problem.bias()->toeplitz) return;
  by_offset_.assign(static_cast<std::size_t>(document.queries + document.keys - 1), 0.0f);
}

void BiasGradient::add(const TilePlace& tile, const TileRows& shape, const float* gradients, std::int64_t stride) {
  if (!learned_.wants_bias()) return;
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    const std::int64_t begin = shape.begin == nullptr ? 0 : shape.begin[i];
    const std::int64_t end = shape.end == nullptr ? shape.columns : shape.end[i];
    const float* row = gradients + i * stride;
    const std::int64_t query = tile.first_query + i;
    if (!by_offset_.empty()) {
      float* sums = by_offset_.data() + (tile.first_key - query + document_.queries - 1);
      for (std::int64_t c = begin; c < end; ++c) sums[c] += row[c];
      continue;
    }
    for (std::int64_t c = begin; c < end; ++c) {
      if (row[c] == 0) continue;  // masked, or without effect
      learned_.add_bias(head_, document_.query_ids[static_cast<std::size_t>(query)],
                        document_.key_ids[static_cast<std::size_t>(tile.first_key + c)],
                        static_cast<double>(row[c]) * problem_.bias_scale());
    }
  }
}

void BiasGradient::finish() {
  if (by_offset_.empty()) return;
  const Position first = document_.key_ids[0] - document_.query_ids.back();
  for (std::size_t t = 0; t < by_offset_.size(); ++t) {
    if (by_offset_[t] == 0) continue;
    learned_.add_bias(head_, 0, first + static_cast<Position>(t),
                      static_cast<double>(by_offset_[t]) * problem_.bias_scale());
  }
}

}  // namespace locus
