// SPDX-License-Identifier: Apache-2.0
#include "probe/ops.h"

#include <cmath>
#include <numbers>

namespace locus::probe {

Rows rms_norm(const Rows& x, std::span<const float> weight, double epsilon) {
  Rows out(x.count, x.width);
  const std::size_t width = weight.size();
  for (std::size_t at = 0; at < x.data.size(); at += width) {
    double squares = 0;
    for (std::size_t j = 0; j < width; ++j) squares += static_cast<double>(x.data[at + j]) * x.data[at + j];
    const double scale = 1 / std::sqrt(squares / static_cast<double>(width) + epsilon);
    for (std::size_t j = 0; j < width; ++j) {
      out.data[at + j] = static_cast<float>(x.data[at + j] * scale) * weight[j];
    }
  }
  return out;
}

Rows layer_norm(const Rows& x, const LayerNorm& norm, double epsilon) {
  Rows out(x.count, x.width);
  const std::size_t width = norm.weight.size();
  for (std::size_t at = 0; at < x.data.size(); at += width) {
    double sum = 0;
    for (std::size_t j = 0; j < width; ++j) sum += x.data[at + j];
    const double mean = sum / static_cast<double>(width);
    double squares = 0;
    for (std::size_t j = 0; j < width; ++j) squares += (x.data[at + j] - mean) * (x.data[at + j] - mean);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(width) + epsilon);
    for (std::size_t j = 0; j < width; ++j) {
      out.data[at + j] = static_cast<float>((x.data[at + j] - mean) * scale) * norm.weight[j] + norm.bias[j];
    }
  }
  return out;
}

void add_to(Rows& x, const Rows& y) {
  for (std::size_t j = 0; j < x.data.size(); ++j) x.data[j] += y.data[j];
}

void gelu(Rows& x) {
  constexpr float root_half = std::numbers::sqrt2_v<float> / 2;
  for (float& value : x.data) value = 0.5f * value * (1 + std::erf(value * root_half));
}

void gelu_by_tanh(Rows& x) {
  const float root = std::sqrt(2 / std::numbers::pi_v<float>);
  for (float& value : x.data) {
    value = 0.5f * value * (1 + std::tanh(root * (value + 0.044715f * value * value * value)));
  }
}

HeadsView heads_of(Rows& rows, std::int64_t heads, std::int64_t head_dim, std::int64_t offset, std::int64_t stride) {
  return {.data = rows.data.data() + offset,
          .tokens = rows.count,
          .heads = heads,
          .head_dim = head_dim,
          .batch_stride = rows.count * rows.width,
          .token_stride = rows.width,
          .head_stride = stride == 0 ? head_dim : stride};
}

}  // namespace locus::probe
