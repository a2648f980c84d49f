// SPDX-License-Identifier: Apache-2.0
// Attention over a shard of keys is a weighted mean of values. The mean over all keys weights each shard by its sum
// of e^score.
#include <algorithm>
#include <cmath>
#include <vector>

#include "locus/attention.h"
#include "locus/error.h"

namespace locus {
namespace {

template <class T>
T* row_of(const HeadsView& view, std::int64_t batch, std::int64_t token, std::int64_t head) {
  return static_cast<T*>(view.data) + batch * view.batch_stride + token * view.token_stride + head * view.head_stride;
}

double widen(float x) { return static_cast<double>(x); }
double widen(double x) { return x; }
double widen(BFloat16 x) { return static_cast<double>(to_float(x)); }
double widen(Float16 x) { return static_cast<double>(to_float(x)); }
void narrow(double x, float& to) { to = static_cast<float>(x); }
void narrow(double x, double& to) { to = x; }
void narrow(double x, BFloat16& to) { to = to_bfloat16(x); }
void narrow(double x, Float16& to) { to = to_float16(x); }

template <class T>
void merge_as(std::span<const PartialAttention> parts, const HeadsView& output, float* log_sum_exp) {
  std::vector<double> weights(parts.size());
  std::vector<double> sum(static_cast<std::size_t>(output.head_dim));
  std::int64_t at = 0;
  for (std::int64_t batch = 0; batch < output.batch; ++batch) {
    for (std::int64_t head = 0; head < output.heads; ++head) {
      for (std::int64_t token = 0; token < output.tokens; ++token, ++at) {
        double top = -HUGE_VAL;
        for (const PartialAttention& part : parts) top = std::max(top, static_cast<double>(part.log_sum_exp[at]));
        double total = 0;
        for (std::size_t i = 0; i < parts.size(); ++i) {
          weights[i] = top == -HUGE_VAL ? 0 : std::exp(static_cast<double>(parts[i].log_sum_exp[at]) - top);
          total += weights[i];
        }
        std::fill(sum.begin(), sum.end(), 0.0);
        for (std::size_t i = 0; i < parts.size(); ++i) {
          if (weights[i] == 0) continue;
          const T* from = row_of<T>(parts[i].output, batch, token, head);
          for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += weights[i] / total * widen(from[j]);
        }
        T* to = row_of<T>(output, batch, token, head);
        for (std::size_t j = 0; j < sum.size(); ++j) narrow(sum[j], to[j]);
        if (log_sum_exp != nullptr) log_sum_exp[at] = static_cast<float>(total == 0 ? top : top + std::log(total));
      }
    }
  }
}

}  // namespace

void merge(std::span<const PartialAttention> parts, const HeadsView& output, float* log_sum_exp) {
  require(!parts.empty(), "merge: parts must not be empty");
  for (const PartialAttention& part : parts) {
    const HeadsView& view = part.output;
    require(part.log_sum_exp != nullptr, "merge: every part needs its log_sum_exp");
    require(view.type == output.type && view.batch == output.batch && view.tokens == output.tokens &&
                view.heads == output.heads && view.head_dim == output.head_dim,
            "merge: all parts must have the type and the extents of the output");
  }
  if (output.type == ElementType::float32) return merge_as<float>(parts, output, log_sum_exp);
  if (output.type == ElementType::float64) return merge_as<double>(parts, output, log_sum_exp);
  if (output.type == ElementType::bfloat16) return merge_as<BFloat16>(parts, output, log_sum_exp);
  merge_as<Float16>(parts, output, log_sum_exp);
}

}  // namespace locus
