// SPDX-License-Identifier: Apache-2.0
#include "model/training.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace locus::lab {

double Schedule::rate(std::int64_t step) const {
  if (step < warm_up) return peak * static_cast<double>(step + 1) / static_cast<double>(warm_up);
  const double part =
      static_cast<double>(step - warm_up) / static_cast<double>(std::max<std::int64_t>(steps - 1 - warm_up, 1));
  return peak * (0.55 + 0.45 * std::cos(std::numbers::pi * std::min(part, 1.0)));
}

Schedule schedule(double learning_rate, std::int64_t steps) {
  return {.peak = learning_rate, .steps = steps, .warm_up = std::max<std::int64_t>(steps / 10, 1)};
}

AdamW::AdamW(Weights& weights, const AdamWOptions& options)
    : weights_(weights),
      options_(options),
      first_(at::zeros({weights.count()})),
      second_(at::zeros({weights.count()})) {}

void AdamW::step(double learning_rate) {
  ++steps_;
  const at::Tensor& gradients = weights_.gradients();
  const double norm = std::sqrt(gradients.dot(gradients).item<double>());
  const auto clip = static_cast<float>(std::min(1.0, options_.clip / (norm + 1e-6)));
  const auto beta1 = static_cast<float>(options_.beta1), beta2 = static_cast<float>(options_.beta2);
  const auto steps = static_cast<double>(steps_);
  const auto rate = static_cast<float>(learning_rate / (1 - std::pow(options_.beta1, steps)));
  const auto root = static_cast<float>(1 / std::sqrt(1 - std::pow(options_.beta2, steps)));
  const auto epsilon = static_cast<float>(options_.epsilon);

  float* __restrict value = weights_.values().data_ptr<float>();
  float* __restrict gradient = gradients.data_ptr<float>();
  float* __restrict first = first_.data_ptr<float>();
  float* __restrict second = second_.data_ptr<float>();
  const auto update = [&](std::int64_t begin, std::int64_t end, float keep) {
    for (std::int64_t i = begin; i < end; ++i) {
      const float g = gradient[i] * clip;
      first[i] = beta1 * first[i] + (1 - beta1) * g;
      second[i] = beta2 * second[i] + (1 - beta2) * g * g;
      value[i] = keep * value[i] - rate * first[i] / (std::sqrt(second[i]) * root + epsilon);
      gradient[i] = 0;
    }
  };
  update(0, weights_.decaying(), static_cast<float>(1 - learning_rate * options_.decay));
  update(weights_.decaying(), weights_.count(), 1.0f);
}

}  // namespace locus::lab
