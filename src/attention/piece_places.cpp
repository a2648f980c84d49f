// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "attention/position_terms.h"
#include "kernels/kernel_state.h"

namespace locus {
PiecePlaces::PiecePlaces(const Problem& problem, const Document& document) : document_(document) {
  if (problem.bias() == nullptr || !problem.bias()->pieces || !document.ids_advance || document.keys == 0) return;
  const Position first = document.key_ids[0] - document.query_ids.back();
  const std::int64_t count = document.queries + document.keys - 1;
  pieces_ = &*problem.bias()->pieces;
  rows_ = &*kernel_state_of(*problem.call().encoding).pieces;
  by_offset_.reserve(static_cast<std::size_t>(count) + spare);
  const bool future_unseen = problem.future_unseen();
  for (Position offset = first; offset < first + count; ++offset) {
    by_offset_.push_back(future_unseen && offset > 0 ? 0.0 : rows_->by_distance(std::abs(offset)));
  }
  by_offset_.resize(static_cast<std::size_t>(count) + spare);
}

const double* PiecePlaces::numbers(std::int64_t query, std::int64_t first_key) const {
  return by_offset_.data() + (first_key - query + document_.queries - 1);
}

}  // namespace locus
