// SPDX-License-Identifier: Apache-2.0
// The gradients of what an encoding learns, by the names of its weights: for callers that know no scheme.
#pragma once

#include <map>
#include <vector>

#include "locus/attention_backward.h"

namespace locus {

/// Holds the sums of a backward pass for every weight that attention sees. It must outlive the call that fills it.
class NamedGradients {
 public:
  explicit NamedGradients(const Encoding& encoding);

  /// For AttentionGradientCall::learned; views of this object.
  LearnedGradients spans();
  /// The gradient of one of the encoding's learned_weights(), in its shape; empty for rows added to the hidden state,
  /// which attention does not see.
  std::vector<double> of(const LearnedWeight& weight) const;

 private:
  std::int64_t columns_ = 1;  // numbers per head share one array [heads, columns]
  std::map<LearnedGradient, std::vector<double>> sums_;
};

}  // namespace locus
