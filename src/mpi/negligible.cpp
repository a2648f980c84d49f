// SPDX-License-Identifier: Apache-2.0
#include "mpi/negligible.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace locus::mpi {
namespace {

const float* float_row(const HeadsView& view, std::int64_t batch, std::int64_t token, std::int64_t head) {
  return static_cast<const float*>(view.data) + batch * view.batch_stride + token * view.token_stride +
         head * view.head_stride;
}

double product(const float* a, const float* b, std::int64_t dim) {
  double sum = 0;
  for (std::int64_t j = 0; j < dim; ++j) sum += static_cast<double>(a[j]) * static_cast<double>(b[j]);
  return sum;
}

// A NaN stays, so that nothing is skipped on account of one.
double larger(double so_far, double next) { return so_far >= next || std::isnan(so_far) ? so_far : next; }
double smaller(double so_far, double next) { return so_far <= next || std::isnan(so_far) ? so_far : next; }

}  // namespace

std::vector<double> largest_norms(const HeadsView& keys, std::span<const positions::Piece> pieces) {
  std::vector<double> norms(static_cast<std::size_t>(keys.heads), 0.0);
  for (const positions::Piece& piece : pieces) {
    for (std::int64_t batch = 0; batch < keys.batch; ++batch) {
      for (std::int64_t token = piece.first; token < piece.first + piece.tokens; ++token) {
        for (std::int64_t head = 0; head < keys.heads; ++head) {
          const float* key = float_row(keys, batch, token, head);
          double& norm = norms[static_cast<std::size_t>(head)];
          norm = larger(norm, std::sqrt(product(key, key, keys.head_dim)));
        }
      }
    }
  }
  return norms;
}

bool NegligibleKeys::possible(const RingCall& call) {
  const Mask& mask = call.mask;
  if (!call.skip_irrelevant_blocks || call.encoding == nullptr || call.query.head_dim > 256) return false;
  if (!mask.keys.empty() || !mask.pairs.empty() || mask.custom != nullptr) return false;
  const auto* bias = std::get_if<ScoreBias>(&call.encoding->term());
  return bias != nullptr && bias->toeplitz && bias->token_numbers == 0 && call.encoding->claims().has(Claim::decaying);
}

NegligibleKeys::NegligibleKeys(const RingCall& call, const HeadsView& queries, const HeadsView& keys)
    : bias_(&call.encoding->score()), group_(queries.heads / keys.heads) {
  const double usual = 1 / std::sqrt(static_cast<double>(queries.head_dim));
  scale_ = call.scale.value_or(bias_->softmax_scale.value_or(usual)) * call.scale_factor;
  const std::vector<positions::Piece>& pieces = call.shard->pieces;
  const std::size_t per_span = pieces_per_span(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i % per_span == 0) {
      const auto heads = static_cast<std::size_t>(queries.heads);
      spans_.push_back({std::vector<double>(heads, 0.0), std::vector<double>(heads, HUGE_VAL)});
    }
    take_piece(call, queries, keys, pieces[i]);
  }
}

void NegligibleKeys::take_piece(const RingCall& call, const HeadsView& queries, const HeadsView& keys,
                                const positions::Piece& piece) {
  Bounds& bounds = spans_.back();
  for (std::int64_t batch = 0; batch < queries.batch; ++batch) {
    for (std::int64_t token = piece.first; token < piece.first + piece.tokens; ++token) {
      for (std::int64_t head = 0; head < queries.heads; ++head) {
        const float* query = float_row(queries, batch, token, head);
        const float* key = float_row(keys, batch, token, head / group_);
        double score = scale_ * product(query, key, queries.head_dim);
        if (call.soft_cap > 0) score = call.soft_cap * std::tanh(score / call.soft_cap);
        const auto h = static_cast<std::size_t>(head);
        bounds.largest_query[h] = larger(bounds.largest_query[h], std::sqrt(product(query, query, queries.head_dim)));
        bounds.least_own_score[h] = smaller(bounds.least_own_score[h], score);
      }
    }
  }
}

bool NegligibleKeys::are_negligible(std::size_t span, const PieceSpan& queries, const PieceSpan& keys,
                                    std::span<const double> norms, double all_keys) const {
  Position offset = 0;  // of the nearest pair
  if (keys.ids.last < queries.ids.first) offset = keys.ids.last - queries.ids.first;
  if (keys.ids.first > queries.ids.last) offset = keys.ids.first - queries.ids.last;
  if (offset == 0) return false;
  const Bounds& bounds = spans_[span];
  const double bias_scale = bias_->before_scale ? scale_ : 1.0;
  for (std::size_t head = 0; head < bounds.largest_query.size(); ++head) {
    const auto h = static_cast<std::int64_t>(head);
    const double norm = norms[static_cast<std::size_t>(h / group_)];
    // 2^-15 covers the rounding of computed scores, as in attention/tiles.cpp.
    const double most =
        std::fabs(scale_) * bounds.largest_query[head] * norm * (1 + 0x1p-15) + bias_->value(h, 0, offset) * bias_scale;
    const double own = bounds.least_own_score[head] + bias_->value(h, 0, 0) * bias_scale;
    if (!(most + std::log(all_keys) < own - 26 * std::numbers::ln2)) return false;
  }
  return true;
}

}  // namespace locus::mpi
