// SPDX-License-Identifier: Apache-2.0
#include "mpi/own_gradients.h"

#include <algorithm>
#include <cstring>

namespace locus::mpi {
namespace {

std::size_t size_of_view(const HeadsView& view) {
  return static_cast<std::size_t>(view.batch * view.tokens * view.heads * view.head_dim);
}

HeadsView widened(const HeadsView& view, std::vector<float>& room) {
  room.resize(size_of_view(view));
  widen_tokens(view, room.data());
  return contiguous_view(room.data(), ElementType::float32, view.batch, view.tokens, view.heads, view.head_dim);
}

void store_doubles(const double* from, const HeadsView& to) {
  for (std::int64_t batch = 0; batch < to.batch; ++batch) {
    for (std::int64_t token = 0; token < to.tokens; ++token) {
      for (std::int64_t head = 0; head < to.heads; ++head, from += to.head_dim) {
        std::copy_n(
            from, to.head_dim,
            static_cast<double*>(to.data) + batch * to.batch_stride + token * to.token_stride + head * to.head_stride);
      }
    }
  }
}

}  // namespace

OwnGradients::OwnGradients(Ring& ring, const RingGradientCall& call, RingWork& work)
    : ring_(ring), call_(call), work_(work), query_sum_(size_of_view(call.forward.query), 0.0f) {
  output_ = widened(call.forward.output, wide_output_);
  output_gradient_ = widened(call.output_gradient, wide_gradient_);
  if (call.query_numbers_gradient.data != nullptr) numbers_sum_.assign(size_of_view(call.query_numbers_gradient), 0.0);
  for (const LearnedMember member : learned_members) learned_sums_.emplace_back((call.learned.*member).size(), 0.0);
  learned_part_.resize(learned_sums_.size());
}

HeadsView OwnGradients::query_sum() {
  const HeadsView& like = call_.forward.query;
  return contiguous_view(query_sum_.data(), ElementType::float32, like.batch, like.tokens, like.heads, like.head_dim);
}

HeadsView OwnGradients::numbers_sum() {
  const HeadsView& like = call_.query_numbers_gradient;
  return contiguous_view(numbers_sum_.data(), ElementType::float64, like.batch, like.tokens, like.heads, like.head_dim);
}

void OwnGradients::add_pair(const Ring::Visit& at, const positions::Piece& queries, const positions::Piece& keys,
                            GradientBlock& share, const ShardOfKeys& gates) {
  const RingCall& whole = call_.forward;
  const bool first = at.owner == ring_.rank() && keys == queries;
  PairCall pair(ring_.own(), queries, at.block, keys);
  pair.shard.gate_counts = gates.gate_counts;
  pair.shard.count_gradients = gates.count_gradients;
  pair.call.output = part_of(output_, queries.first, queries.tokens);
  lse_.clear();
  for (std::int64_t row = 0; row < whole.query.batch * whole.query.heads; ++row) {
    const float* from = whole.log_sum_exp + row * whole.query.tokens + queries.first;
    lse_.insert(lse_.end(), from, from + queries.tokens);
  }
  pair.call.log_sum_exp = lse_.data();
  if (first) pair.call.sink_logits = whole.sink_logits;

  AttentionGradientCall gradients{.forward = pair.call,
                                  .output_gradient = part_of(output_gradient_, queries.first, queries.tokens),
                                  .query_gradient = {},
                                  .key_gradient = {},
                                  .value_gradient = {}};
  take_parts(queries, keys, gradients, first);
  work_.tiles.computed += attend_backward_shard(gradients, pair.shard).computed;
  add_parts(queries, keys, share);
}

void OwnGradients::take_parts(const positions::Piece& queries, const positions::Piece& keys,
                              AttentionGradientCall& gradients, bool with_sinks) {
  const RingCall& whole = call_.forward;
  query_part_.shape(whole.query, queries.tokens, ElementType::float32);
  key_part_.shape(whole.key, keys.tokens, ElementType::float32);
  value_part_.shape(whole.key, keys.tokens, ElementType::float32);
  gradients.query_gradient = query_part_.view;
  gradients.key_gradient = key_part_.view;
  gradients.value_gradient = value_part_.view;
  if (!numbers_sum_.empty()) {
    query_numbers_part_.shape(whole.query_numbers, queries.tokens, ElementType::float64);
    key_numbers_part_.shape(whole.query_numbers, keys.tokens, ElementType::float64);
    gradients.query_numbers_gradient = query_numbers_part_.view;
    gradients.key_numbers_gradient = key_numbers_part_.view;
  }
  for (std::size_t i = 0; i < learned_sums_.size(); ++i) {
    const bool sinks = learned_members[i] == &LearnedGradients::sink_logits;
    learned_part_[i].resize(sinks && !with_sinks ? 0 : learned_sums_[i].size());
    gradients.learned.*learned_members[i] = learned_part_[i];
  }
}

void OwnGradients::add_parts(const positions::Piece& queries, const positions::Piece& keys, GradientBlock& share) {
  query_part_.add_to(query_sum(), queries.first);
  key_part_.add_to(share.keys(), keys.first);
  value_part_.add_to(share.values(), keys.first);
  if (!numbers_sum_.empty()) {
    query_numbers_part_.add_to(numbers_sum(), queries.first);
    key_numbers_part_.add_to(share.numbers(), keys.first);
  }
  for (std::size_t i = 0; i < learned_sums_.size(); ++i) {
    for (std::size_t j = 0; j < learned_part_[i].size(); ++j) learned_sums_[i][j] += learned_part_[i][j];
  }
}

void OwnGradients::store(GradientBlock& home) {
  store_tokens(query_sum_.data(), call_.query_gradient);
  store_tokens(static_cast<const float*>(home.keys().data), call_.key_gradient);
  store_tokens(static_cast<const float*>(home.values().data), call_.value_gradient);
  if (!numbers_sum_.empty()) store_doubles(numbers_sum_.data(), call_.query_numbers_gradient);
  if (call_.key_numbers_gradient.data != nullptr) {
    store_doubles(static_cast<const double*>(home.numbers().data), call_.key_numbers_gradient);
  }
  for (std::size_t i = 0; i < std::size(learned_members); ++i) {
    sum_over_ranks(learned_sums_[i]);
    std::copy(learned_sums_[i].begin(), learned_sums_[i].end(), (call_.learned.*learned_members[i]).begin());
  }
}

// In the order of ranks, so that every rank has the same bits; in parts, so that memory does not grow with the ranks.
void OwnGradients::sum_over_ranks(std::vector<double>& sums) {
  constexpr std::size_t most = 4096;
  for (std::size_t first = 0; first < sums.size(); first += most) {
    const std::span<double> part = std::span(sums).subspan(first, std::min(most, sums.size() - first));
    const std::vector<std::byte> all = ring_.channel().gather(std::as_bytes(part));
    std::vector<double> of_rank(part.size());
    std::fill(part.begin(), part.end(), 0.0);
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(ring_.ranks()); ++rank) {
      std::memcpy(of_rank.data(), all.data() + rank * part.size_bytes(), part.size_bytes());
      for (std::size_t i = 0; i < part.size(); ++i) part[i] += of_rank[i];
    }
  }
}

}  // namespace locus::mpi
