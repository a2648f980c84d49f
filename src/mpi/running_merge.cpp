// SPDX-License-Identifier: Apache-2.0
#include "mpi/running_merge.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace locus::mpi {

RunningMerge::RunningMerge(std::int64_t batch, std::int64_t tokens, std::int64_t heads, std::int64_t dim)
    : batch_(batch),
      tokens_(tokens),
      heads_(heads),
      dim_(dim),
      sum_(static_cast<std::size_t>(batch * tokens * heads * dim), 0.0f),
      top_(static_cast<std::size_t>(batch * heads * tokens), -std::numeric_limits<float>::infinity()),
      total_(top_.size(), 0.0) {}

void RunningMerge::add(std::int64_t first, const HeadsView& part, const float* log_sum_exp) {
  for (std::int64_t batch = 0; batch < batch_; ++batch) {
    for (std::int64_t head = 0; head < heads_; ++head) {
      for (std::int64_t token = 0; token < part.tokens; ++token) {
        const auto lse = static_cast<double>(log_sum_exp[(batch * heads_ + head) * part.tokens + token]);
        if (lse == -HUGE_VAL) continue;
        const auto at = static_cast<std::size_t>((batch * heads_ + head) * tokens_ + first + token);
        const auto before = static_cast<double>(top_[at]);
        const double top = std::max(before, lse);
        const double kept = before == -HUGE_VAL ? 0 : std::exp(before - top), weight = std::exp(lse - top);
        const float* from = static_cast<const float*>(part.data) + batch * part.batch_stride +
                            token * part.token_stride + head * part.head_stride;
        float* to = sum_.data() + ((batch * tokens_ + first + token) * heads_ + head) * dim_;
        for (std::int64_t j = 0; j < dim_; ++j) {
          to[j] = static_cast<float>(static_cast<double>(to[j]) * kept + static_cast<double>(from[j]) * weight);
        }
        total_[at] = total_[at] * kept + weight;
        top_[at] = static_cast<float>(top);
      }
    }
  }
}

void RunningMerge::finish() {
  for (std::int64_t batch = 0; batch < batch_; ++batch) {
    for (std::int64_t head = 0; head < heads_; ++head) {
      for (std::int64_t token = 0; token < tokens_; ++token) {
        const auto at = static_cast<std::size_t>((batch * heads_ + head) * tokens_ + token);
        if (total_[at] == 0) continue;
        float* to = sum_.data() + ((batch * tokens_ + token) * heads_ + head) * dim_;
        for (std::int64_t j = 0; j < dim_; ++j) to[j] = static_cast<float>(static_cast<double>(to[j]) / total_[at]);
        top_[at] = static_cast<float>(static_cast<double>(top_[at]) + std::log(total_[at]));
      }
    }
  }
}

}  // namespace locus::mpi
