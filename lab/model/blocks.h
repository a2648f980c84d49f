// SPDX-License-Identifier: Apache-2.0
// The two halves of a layer as autograd functions, each with its norm and residual inside: one node per half, and no
// copies between queries, keys and values and the library's kernels.
#pragma once

#include "model/torch.h"

#include <functional>
#include <span>
#include <vector>

#include "locus/attention.h"
#include "model/scheme.h"

namespace locus::lab {

/// Settings of attention.
struct AttentionSetting : torch::CustomClassHolder {
  AttentionSetting(Encoding of, std::vector<LearnedArgument> weights)
      : encoding(std::move(of)), learned(std::move(weights)) {}
  Encoding encoding;
  std::vector<LearnedArgument> learned;
  std::int64_t rows = 0, length = 0, heads = 0, head_dim = 0;
  bool causal = true;
  PositionIds ids;
  /// Called after every forward call; for checks.
  std::function<void(const AttentionCall&)> observer;
};
using SharedSetting = c10::intrusive_ptr<AttentionSetting>;

/// gain [width], qkv [3 width, width] and out [width, width] of a layer, and the encoding's weights in the order of
/// setting->learned (empty if there are none): they get gradients, but are read from setting->encoding.
struct AttentionWeights {
  const at::Tensor &gain, &qkv, &out, &learned;
};

/// x + attend(norm(x) qkv) out for x [rows x length, width]. The encoding rotates queries and keys or adds its term to
/// the scores. `numbers`: what tokens bring (ScoreBias::token_numbers), [rows x length, heads x numbers] in double, or
/// empty.
at::Tensor attention_block(const at::Tensor& x, const AttentionWeights& weights, const at::Tensor& numbers,
                           const SharedSetting& setting);

/// x + relu(norm(x) w_in) w_out; w_in [hidden, width], w_out [width, hidden].
at::Tensor feed_forward_block(const at::Tensor& x, const at::Tensor& gain, const at::Tensor& w_in,
                              const at::Tensor& w_out);

}  // namespace locus::lab
