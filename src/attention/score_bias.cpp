// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "attention/position_terms.h"
#include "kernels/kernel_state.h"
#include "kernels/pieces_simd.h"

namespace locus {
namespace {

// A tile reads whole panels, so it reads less than one panel beyond the last offset. The widest panel has 64 floats, or
// two vectors of 2048 bits.
constexpr std::int64_t spare = 128;

}  // namespace

BiasTerm::BiasTerm(const Problem& problem, const Document& document, std::int64_t head)
    : problem_(problem),
      document_(document),
      head_(head),
      numbers_(problem, document, head),
      places_(problem, document) {
  if (!present() || document.keys == 0) return;
  const ScoreBias& bias = *problem.bias();
  factor_ = log2_e * (bias.before_scale ? problem.scale() : 1.0);
  if (!bias.toeplitz) return;
  const auto [first_query, last_query] = std::minmax_element(document.query_ids.begin(), document.query_ids.end());
  const auto [first_key, last_key] = std::minmax_element(document.key_ids.begin(), document.key_ids.end());
  first_offset_ = *first_key - *last_query;
  const std::int64_t count = *last_key - *first_query - first_offset_ + 1;
  // Scattered ids may be so far apart that a vector by offset would be larger than the sequences.
  if (count > 4 * (document.queries + document.keys) + 4096) return;
  const bool future_unseen = problem.future_unseen();
  by_offset_.assign(static_cast<std::size_t>(count + spare), 0.0f);
  std::int64_t i = 0;
  if (!bias.slopes.empty()) {  // linear in the distance: needs no function call per offset
    const double slope = bias.slopes[static_cast<std::size_t>(head)];
    for (; i < count && first_offset_ + i <= 0; ++i) {
      const auto distance = static_cast<double>(-(first_offset_ + i));
      by_offset_[static_cast<std::size_t>(i)] = static_cast<float>(factor_ * (-slope * distance));
    }
  }
  const KernelState* state = bias.network_weights > 0 ? &kernel_state_of(*problem.call().encoding) : nullptr;
  for (; i < count; ++i) {
    const Position offset = first_offset_ + i;
    if (future_unseen && offset > 0) break;
    const double own = state != nullptr ? state->bias->value(head, offset) : bias.value(head, 0, offset);
    by_offset_[static_cast<std::size_t>(i)] = static_cast<float>(factor_ * own);
  }
  float largest = by_offset_[0];
  for (const float one : by_offset_) {
    if (!(one <= largest) && largest == largest) largest = one;  // NaN stays
  }
  largest_ = static_cast<double>(largest);
}

double BiasTerm::value(Position query, Position key) const {
  if (!by_offset_.empty())
    return static_cast<double>(by_offset_[static_cast<std::size_t>(key - query - first_offset_)]);
  return factor_ * problem_.bias()->value(head_, query, key);
}

const float* BiasTerm::window(std::int64_t query, std::int64_t key) const {
  if (by_offset_.empty() || !document_.ids_advance || numbers_.present()) return nullptr;
  return by_offset_.data() + (document_.key_ids[0] + key - document_.query_ids[0] - query - first_offset_);
}

void BiasTerm::add_pieces(const TilePlace& tile, float* scores, std::int64_t stride) const {
  const BiasPieces& pieces = places_.pieces();
  const auto first = static_cast<std::size_t>(head_) * (pieces.breaks.size() + 1);
  std::vector<PieceRun> runs;
  std::vector<float> room;
  for (std::int64_t query = tile.first_query; query < tile.first_query + tile.rows; ++query, scores += stride) {
    const PieceQuery own = places_.query(query, room);
    const TilePlace row{.first_query = query, .rows = 1, .first_key = tile.first_key, .columns = tile.columns};
    runs.clear();
    places_.for_runs(own, row, [&](std::int64_t end, std::int64_t piece) {
      const std::size_t at = first + static_cast<std::size_t>(piece);
      runs.push_back(
          {.end = end, .slope = factor_ * own.by_query * pieces.slopes[at], .start = factor_ * pieces.starts[at]});
    });
    locus::add_pieces({.runs = runs.data(),
                       .count = std::ssize(runs),
                       .numbers = places_.numbers(query, tile.first_key),
                       .scores = scores});
  }
}

void BiasTerm::add(const TilePlace& tile, float* scores, std::int64_t stride) const {
  if (numbers_.present()) return numbers_.add(tile, scores, stride);
  if (places_.present()) return add_pieces(tile, scores, stride);
  if (const float* biases = window(tile.first_query, tile.first_key)) {
    for (std::int64_t i = 0; i < tile.rows; ++i) {
      for (std::int64_t c = 0; c < tile.columns; ++c) scores[i * stride + c] += biases[c - i];
    }
    return;
  }
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    const Position query = document_.query_ids[static_cast<std::size_t>(tile.first_query + i)];
    for (std::int64_t c = 0; c < tile.columns; ++c) {
      const Position key = document_.key_ids[static_cast<std::size_t>(tile.first_key + c)];
      scores[i * stride + c] += static_cast<float>(value(query, key));
    }
  }
}

}  // namespace locus
