// SPDX-License-Identifier: Apache-2.0
// The same model in torch's own operations: matmul, softmax over queries x keys, RoPE, ALiBi and the others written out
// from their papers, torch's autograd and AdamW. Shares the initial weights with the fast model and nothing else; tests
// compare losses step by step, `locus-lab speed` compares the time.
#pragma once

#include <map>
#include <memory>

#include "model/torch_positions.h"
#include "model/transformer.h"

namespace locus::lab {

/// Returns whether the baseline knows the scheme with these arguments.
bool baseline_knows(const SchemeText& scheme);

class TorchBaseline {
 public:
  /// Error: a scheme that the baseline does not know.
  TorchBaseline(const ModelSpec& spec, std::int64_t seed);
  ~TorchBaseline();

  Weights& weights() { return weights_; }
  /// Mean cross-entropy.
  at::Tensor loss(const Questions& questions);
  /// loss(), backward, clipped gradients, one step of torch's AdamW. Returns the loss before the step.
  double train_step(const Questions& questions, double learning_rate);

 private:
  struct Optimiser;
  at::Tensor attention(const at::Tensor& x, std::int64_t layer, const TorchPositions& positions) const;

  ModelSpec spec_;
  Weights weights_;
  std::map<std::int64_t, TorchPositions> positions_;  ///< by length
  std::unique_ptr<Optimiser> optimiser_;
};

}  // namespace locus::lab
