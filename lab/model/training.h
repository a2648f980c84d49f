// SPDX-License-Identifier: Apache-2.0
// AdamW over contiguous weights, with linear warm-up, cosine decay and gradient clipping.
#pragma once

#include "model/weights.h"

namespace locus::lab {

struct Schedule {
  double peak = 3e-3;
  std::int64_t steps = 0;
  std::int64_t warm_up = 0;
  /// Learning rate: rises linearly to the peak during the warm-up, then falls by a cosine to a tenth of it at the last
  /// step.
  double rate(std::int64_t step) const;
};
/// Sets a warm-up of a tenth of the steps.
Schedule schedule(double learning_rate, std::int64_t steps);

struct AdamWOptions {
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-8, decay = 0.01, clip = 1;
};

/// AdamW: Loshchilov and Hutter 2017 (arXiv 1711.05101), algorithm 2, as in torch. Decay applies to `decaying()`
/// weights.
class AdamW {
 public:
  AdamW(Weights& weights, const AdamWOptions& options = {});
  /// Clips the norm of the gradient over all weights, updates the weights, and sets the gradient to zero.
  void step(double learning_rate);

 private:
  Weights& weights_;
  AdamWOptions options_;
  at::Tensor first_, second_;
  std::int64_t steps_ = 0;
};

}  // namespace locus::lab
