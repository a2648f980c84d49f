// SPDX-License-Identifier: Apache-2.0
#include "locus/named_gradients.h"

namespace locus {

NamedGradients::NamedGradients(const Encoding& encoding) {
  for (const LearnedWeight& weight : encoding.learned_weights()) {
    if (gradient_member(weight.gradient) == nullptr) continue;
    const bool per_head = weight.gradient == LearnedGradient::bias_parameters;
    if (per_head) columns_ = encoding.score().parameters;
    if (weight.gradient == LearnedGradient::bias_network) {  // the weights of one network share an array
      sums_[weight.gradient].resize(static_cast<std::size_t>(encoding.score().network_weights));
      continue;
    }
    std::int64_t count = per_head ? columns_ : 1;
    for (const std::int64_t extent : weight.shape) count *= extent;
    sums_[weight.gradient].resize(static_cast<std::size_t>(count));
  }
}

LearnedGradients NamedGradients::spans() {
  LearnedGradients spans;
  for (auto& [gradient, sums] : sums_) spans.*gradient_member(gradient) = sums;
  return spans;
}

std::vector<double> NamedGradients::of(const LearnedWeight& weight) const {
  const auto found = sums_.find(weight.gradient);
  if (found == sums_.end()) return {};
  const std::vector<double>& sums = found->second;
  if (weight.gradient == LearnedGradient::bias_network) {
    std::int64_t count = 1;
    for (const std::int64_t extent : weight.shape) count *= extent;
    const auto from = sums.begin() + weight.column;
    return {from, from + count};
  }
  if (weight.gradient != LearnedGradient::bias_parameters) return sums;
  std::vector<double> values;
  for (auto i = static_cast<std::size_t>(weight.column); i < sums.size(); i += static_cast<std::size_t>(columns_)) {
    values.push_back(sums[i]);
  }
  return values;
}

}  // namespace locus
