// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "attention/term_gradients.h"

namespace locus {

BiasGradient::BiasGradient(const Problem& problem, const Document& document, std::int64_t head, LearnedSums& learned)
    : problem_(problem), document_(document), head_(head), learned_(learned), places_(problem, document) {
  if (!learned.wants_bias() || document.keys == 0 || !document.ids_advance) return;
  if (places_.present()) {
    in_piece_.resize(places_.pieces().breaks.size() + 1);
    with_x_.resize(in_piece_.size());
    const Position first = document.key_ids[0] - document.query_ids.back();
    for (Position offset = first; offset < first + document.queries + document.keys - 1; ++offset) {
      slopes_.push_back(places_.pieces().distance_slope(std::abs(offset)));
    }
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
      add_pieces(query, tile.first_key, begin, end, row);
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

void BiasGradient::add_pieces(std::int64_t query, std::int64_t first_key, std::int64_t begin, std::int64_t end,
                              const float* row) {
  if (begin >= end) return;
  const BiasPieces& pieces = places_.pieces();
  const Position id = document_.query_ids[static_cast<std::size_t>(query)];
  const double* numbers = places_.numbers(query, first_key + begin);
  const double* slopes = slopes_.data() + (first_key + begin - query + document_.queries - 1);
  const double by_query = pieces.by_query(id), scale = problem_.bias_scale();
  const auto own = static_cast<std::size_t>(head_) * in_piece_.size();  // of the head
  std::int64_t c = 0;
  double with_distance = 0, with_slope = 0;  // sums of the gradient of x
  places_.for_runs(query, first_key + begin, end - begin, [&](std::int64_t run_end, std::int64_t piece) {
    double sum = 0, by_number = 0, by_slope = 0;
    for (; c < run_end; ++c) {
      const double gradient = static_cast<double>(row[begin + c]);
      sum += gradient;
      by_number += gradient * numbers[c];
      by_slope += gradient * slopes[c];
    }
    const auto at = static_cast<std::size_t>(piece);
    in_piece_[at] += scale * sum;
    with_x_[at] += scale * by_query * by_number;
    with_distance += scale * pieces.slopes[own + at] * by_number;
    with_slope += scale * pieces.slopes[own + at] * by_slope;
  });
  pieces.add_input_gradient(id, with_distance, with_slope, learned_.bias_network());
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
  if (!in_piece_.empty()) places_.pieces().add_gradient(head_, in_piece_, with_x_, learned_.bias_network());
  if (by_offset_.empty()) return;
  const Position first = document_.key_ids[0] - document_.query_ids.back();
  for (std::size_t t = 0; t < by_offset_.size(); ++t) {
    if (by_offset_[t] == 0) continue;
    learned_.add_bias(head_, 0, first + static_cast<Position>(t),
                      static_cast<double>(by_offset_[t]) * problem_.bias_scale());
  }
}

}  // namespace locus
