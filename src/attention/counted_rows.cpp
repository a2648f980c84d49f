// SPDX-License-Identifier: Apache-2.0
// Rows chosen by counting: along a row of scores, from the last visible key to the first, gates = sigmoid(score) are
// summed, and the sum, a real number, picks its term between two products of the query with the rows of the table.
#include <algorithm>
#include <cmath>

#include "attention/position_terms.h"

namespace locus {

double counted_gate(const Problem& problem, const Document& document, const PairOfHead& pair, double score) {
  const Tensor& mix = problem.relative()->gate_mix;
  if (!mix.data.empty()) {
    const AttentionCall& call = problem.call();
    score = 0;
    for (std::int64_t head = 0; head < call.query.heads; ++head) {
      const std::byte* q = Problem::row(call.query, document.batch, document.first_query + pair.query, head);
      std::vector<std::byte> room;
      const TypedRows k = problem.rows(RowSupply::Part::keys, document, head / problem.group(), pair.key, 1, room);
      HeadsView of_key = call.key;
      of_key.type = k.type;
      double product = 0;
      for (std::int64_t j = 0; j < problem.head_dim(); ++j) {
        product += Problem::element(call.query, q, j) *
                   Problem::element(of_key, static_cast<const std::byte*>(k.rows.data), j);
      }
      score += static_cast<double>(mix.row(pair.head)[static_cast<std::size_t>(head)]) * product * problem.scale();
    }
  }
  return 1 / (1 + std::exp(-score));
}

CountedPlace counted_place(const RelativeKeys& keys, double count) {
  const double place = std::min(count, static_cast<double>(keys.key_table.dim(0) - 1));
  const auto below = static_cast<std::int64_t>(place);
  const double share = place - static_cast<double>(below);
  return {below, share > 0 ? below + 1 : below, share};
}

void RelativeTerm::add_counted(const TilePlace& tile, const TileRows& shape, const PositionQueries& position,
                               float* scores, std::int64_t stride) const {
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    const float* products = position.products + i * tables_.room;
    double& count = position.counts[i];
    const std::int64_t begin = shape.begin == nullptr ? 0 : shape.begin[i];
    const std::int64_t end = shape.end == nullptr ? shape.columns : shape.end[i];
    for (std::int64_t c = end - 1; c >= begin; --c) {
      const PairOfHead pair{head_, tile.first_query + i, tile.first_key + c};
      if (!problem_.sees(document_, head_, pair.query, pair.key)) continue;
      float& score = scores[i * stride + c];
      count += counted_gate(problem_, document_, pair, static_cast<double>(score) / log2_e);
      const CountedPlace place = counted_place(*keys_, count);
      const auto low = static_cast<double>(products[place.below]), high = static_cast<double>(products[place.above]);
      score += static_cast<float>(low * (1 - place.share) + high * place.share);
    }
  }
}

}  // namespace locus
