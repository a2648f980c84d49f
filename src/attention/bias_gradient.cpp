// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "attention/term_gradients.h"
#include "kernels/pieces_simd.h"

namespace locus {

BiasGradient::BiasGradient(const Problem& problem, const Document& document, std::int64_t head, LearnedSums& learned)
    : problem_(problem), document_(document), head_(head), learned_(learned), places_(problem, document) {
  if (!learned.wants_bias() || document.keys == 0 || !document.ids_advance) return;
  if (places_.present()) {
    in_piece_.resize(places_.pieces().breaks.size() + 1);
    with_x_.resize(in_piece_.size());
    with_distance_.resize(static_cast<std::size_t>(document.queries));
    with_slope_.resize(with_distance_.size());
    const Position first = document.key_ids[0] - document.query_ids.back();
    for (Position offset = first; offset < first + document.queries + document.keys - 1; ++offset) {
      slopes_.push_back(places_.pieces().distance_slope(std::abs(offset)));
    }
    slopes_.resize(slopes_.size() + PiecePlaces::spare);
  }
  if (!problem.bias()->toeplitz) return;
  by_offset_.assign(static_cast<std::size_t>(document.queries + document.keys - 1), 0.0f);
}

void BiasGradient::add(const TilePlace& tile, const TileRows& shape, const float* gradients, std::int64_t stride) {
  if (!learned_.wants_bias()) return;
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    const std::int64_t begin = shape.begin == nullptr ? 0 : shape.begin[i];
    const std::int64_t end = shape.end == nullptr ? shape.columns : shape.end[i];
    const float* row = gradients + i * stride;
    const std::int64_t query = tile.first_query + i;
    if (places_.present()) {
      add_pieces(query, tile.first_key + begin, end - begin, row + begin);
      continue;
    }
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

void BiasGradient::add_pieces(std::int64_t query, std::int64_t first_key, std::int64_t columns,
                              const float* gradients) {
  if (columns <= 0) return;
  const BiasPieces& pieces = places_.pieces();
  const PieceQuery own = places_.query(query, room_);
  const double scale = problem_.bias_scale();
  const auto first = static_cast<std::size_t>(head_) * in_piece_.size();  // of the head
  PieceSums sums{.gradients = gradients,
                 .numbers = places_.numbers(query, first_key),
                 .slopes = slopes_.data() + (first_key - query + document_.queries - 1)};
  const TilePlace row{.first_query = query, .rows = 1, .first_key = first_key, .columns = columns};
  places_.for_runs(own, row, [&](std::int64_t end, std::int64_t piece) {
    sums.end = end;
    sum_pieces(sums);
    const auto at = static_cast<std::size_t>(piece);
    in_piece_[at] += scale * sums.plain;
    with_x_[at] += scale * own.by_query * sums.with_number;
    with_distance_[static_cast<std::size_t>(query)] += scale * pieces.slopes[first + at] * sums.with_number;
    with_slope_[static_cast<std::size_t>(query)] += scale * pieces.slopes[first + at] * sums.with_slope;
    sums.begin = end;
  });
}

NumberGradient::NumberGradient(const Problem& problem, const AttentionGradientCall& call, const Document& document,
                               std::int64_t head)
    : call_(call),
      document_(document),
      head_(head),
      numbers_(problem, document, head),
      wanted_(numbers_.present() &&
              (call.query_numbers_gradient.data != nullptr || call.key_numbers_gradient.data != nullptr)) {
  for (int n = 0; wanted_ && n < 2; ++n) {
    query_[n].resize(static_cast<std::size_t>(document.queries));
    key_[n].resize(static_cast<std::size_t>(document.keys));
  }
}

void NumberGradient::add(std::int64_t query, std::int64_t key, double gradient) {
  if (!wanted_) return;
  const int n = numbers_.which(query, key);
  query_[n][static_cast<std::size_t>(query)] += TokenNumbers::sign(n) * gradient;
  key_[n][static_cast<std::size_t>(key)] -= TokenNumbers::sign(n) * gradient;
}

void NumberGradient::add(const TilePlace& tile, const TileRows& shape, const float* gradients, std::int64_t stride) {
  if (!wanted_) return;
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    const std::int64_t begin = shape.begin == nullptr ? 0 : shape.begin[i];
    const std::int64_t end = shape.end == nullptr ? shape.columns : shape.end[i];
    for (std::int64_t c = begin; c < end; ++c) {
      add(tile.first_query + i, tile.first_key + c, static_cast<double>(gradients[i * stride + c]));
    }
  }
}

void NumberGradient::store() const {
  if (!wanted_) return;
  const auto store = [&](const HeadsView& view, std::int64_t first, const std::vector<double>(&sums)[2]) {
    if (view.data == nullptr) return;
    for (std::size_t t = 0; t < sums[0].size(); ++t) {
      auto* to =
          reinterpret_cast<double*>(Problem::row(view, document_.batch, first + static_cast<std::int64_t>(t), head_));
      for (std::int64_t n = 0; n < view.head_dim; ++n) to[n] = sums[n][t];
    }
  };
  store(call_.query_numbers_gradient, document_.first_query, query_);
  store(call_.key_numbers_gradient, document_.first_key, key_);
}

void BiasGradient::finish() {
  if (!in_piece_.empty()) {
    const BiasPieces& pieces = places_.pieces();
    pieces.add_gradient(head_, in_piece_, with_x_, learned_.bias_network());
    for (std::size_t i = 0; i < with_distance_.size(); ++i) {
      pieces.add_input_gradient(document_.query_ids[i], with_distance_[i], with_slope_[i], learned_.bias_network());
    }
  }
  if (by_offset_.empty()) return;
  const Position first = document_.key_ids[0] - document_.query_ids.back();
  for (std::size_t t = 0; t < by_offset_.size(); ++t) {
    if (by_offset_[t] == 0) continue;
    learned_.add_bias(head_, 0, first + static_cast<Position>(t),
                      static_cast<double>(by_offset_[t]) * problem_.bias_scale());
  }
}

}  // namespace locus
