// SPDX-License-Identifier: Apache-2.0
// The gradients that stay on a rank while blocks of keys come by: those of its queries and of the learned weights.
#pragma once

#include <vector>

#include "mpi/gradient_block.h"
#include "mpi/ring.h"

namespace locus::mpi {

using LearnedMember = std::span<double> LearnedGradients::*;
inline constexpr LearnedMember learned_members[] = {
    &LearnedGradients::sink_logits,
    &LearnedGradients::bias_table,
    &LearnedGradients::bias_parameters,
    &LearnedGradients::bias_network,
    &LearnedGradients::key_table,
    &LearnedGradients::query_table,
    &LearnedGradients::column_table,
    &LearnedGradients::value_table,
    &LearnedGradients::u,
    &LearnedGradients::v,
    &LearnedGradients::w_r,
    &LearnedGradients::gate_mix,
};

/// Contiguous memory for a part of a tensor, and adding it to the whole.
template <class T>
struct Part {
  std::vector<T> data;
  HeadsView view;

  void shape(const HeadsView& like, std::int64_t tokens, ElementType type) {
    data.resize(static_cast<std::size_t>(like.batch * tokens * like.heads * like.head_dim));
    view = contiguous_view(data.data(), type, like.batch, tokens, like.heads, like.head_dim);
  }
  /// `whole` is contiguous by rows of heads.
  void add_to(const HeadsView& whole, std::int64_t first) const {
    const std::int64_t row = view.heads * view.head_dim;
    for (std::int64_t batch = 0; batch < view.batch; ++batch) {
      T* to = static_cast<T*>(whole.data) + batch * whole.batch_stride + first * whole.token_stride;
      const T* from = data.data() + batch * view.tokens * row;
      for (std::int64_t i = 0; i < view.tokens * row; ++i) to[i] += from[i];
    }
  }
};

class OwnGradients {
 public:
  OwnGradients(Ring& ring, const RingGradientCall& call, RingWork& work);

  /// Adds the gradients of a pair of pieces: to those of the own queries, and to `share`, those of the block.
  /// `gates`, where they are counted, holds the sums of the pair's queries.
  void add_pair(const Ring::Visit& at, const positions::Piece& queries, const positions::Piece& keys,
                GradientBlock& share, const ShardOfKeys& gates = {});
  /// Collective. Writes the gradients of the call; `home` has those of the own keys and values, from all ranks.
  void store(GradientBlock& home);

 private:
  void take_parts(const positions::Piece& queries, const positions::Piece& keys, AttentionGradientCall& gradients,
                  bool with_sinks);
  void add_parts(const positions::Piece& queries, const positions::Piece& keys, GradientBlock& share);
  void sum_over_ranks(std::vector<double>& sums);
  HeadsView query_sum();
  HeadsView numbers_sum();

  Ring& ring_;
  const RingGradientCall& call_;
  RingWork& work_;
  std::vector<float> wide_output_, wide_gradient_;
  HeadsView output_, output_gradient_;
  std::vector<float> query_sum_;
  std::vector<double> numbers_sum_;
  std::vector<std::vector<double>> learned_sums_, learned_part_;
  Part<float> query_part_, key_part_, value_part_;
  Part<double> query_numbers_part_, key_numbers_part_;
  std::vector<float> lse_;
};

/// The backward pass of encodings that count gates; returns the gradients of the own keys and values. Collective.
GradientBlock backward_in_order(Ring& ring, OwnGradients& own, RingWork& work);

}  // namespace locus::mpi
