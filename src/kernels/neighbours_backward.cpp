// SPDX-License-Identifier: Apache-2.0
// The backward pass of rows from neighbours. With s_t = b + sum_j W_j y_(t + j - before) and out_t = x_t + gelu(s_t),
//   ds_t = dout_t gelu'(s_t),  dW_j += ds_t y_(t + j - before)^T,  dy_(t + j - before) += W_j^T ds_t,  db += ds_t,
//   dx_t = dout_t + input_scale dy_t.
#include <algorithm>
#include <cmath>

#include "kernels/any_element.h"
#include "kernels/neighbours.h"
#include "kernels/token_access.h"

namespace locus {
namespace {

// The derivative of x Phi(x): Phi(x) + x phi(x).
double gelu_slope(double x) {
  constexpr double sqrt_half = 0.70710678118654752440, one_over_root_2_pi = 0.39894228040143267794;
  return 0.5 * (1 + std::erf(x * sqrt_half)) + x * one_over_root_2_pi * std::exp(-0.5 * x * x);
}

void add_scaled(double factor, const double* of, std::int64_t count, double* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] += factor * of[i];
}

/// Weights and their gradients, tap by tap: [groups][kernel][inputs][outputs], `turned` with the last two exchanged.
class Taps {
 public:
  explicit Taps(const HiddenRows& hidden)
      : weight(hidden.neighbours->weight.size()),
        turned(weight.size()),
        gradient(weight.size()),
        kernel_(hidden.neighbours->kernel),
        group_(hidden.dim / hidden.neighbours->groups) {
    for (std::size_t i = 0; i < weight.size(); ++i) {
      const Place place = place_of(i);
      weight[place.plain] = turned[place.turned] = hidden.neighbours->weight[i];
    }
  }

  /// Adds the gradients to `to`, which is [dim, inputs, kernel].
  void add_gradient(std::span<double> to) const {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += gradient[place_of(i).plain];
  }
  std::int64_t start(std::int64_t channels, std::int64_t tap) const {
    return (channels * kernel_ + tap) * group_ * group_;
  }

  std::vector<double> weight, turned, gradient;

 private:
  struct Place {
    std::size_t plain, turned;
  };
  Place place_of(std::size_t i) const {
    const auto flat = static_cast<std::int64_t>(i);
    const std::int64_t tap = flat % kernel_, input = flat / kernel_ % group_, channel = flat / kernel_ / group_;
    const std::int64_t begin = start(channel / group_, tap), output = channel % group_;
    return {static_cast<std::size_t>(begin + input * group_ + output),
            static_cast<std::size_t>(begin + output * group_ + input)};
  }

  std::int64_t kernel_, group_;
};

}  // namespace

void add_from_neighbours_backward(const HiddenRows& hidden, const AddGradientCall& call, const PositionIds& ids) {
  const Neighbours& from = *hidden.neighbours;
  const std::int64_t dim = hidden.dim, group = dim / from.groups;
  const ElementType type = call.input.type;
  Taps taps(hidden);
  std::vector<double> ds(static_cast<std::size_t>(group));
  for (const IdRun& run : id_runs(call.input, ids)) {
    const std::vector<double> y = run_inputs<double>(hidden, call.input, run);
    std::vector<double> dy(y.size());
    for (std::int64_t t = 0; t < run.tokens; ++t) {
      const std::byte* dout = at(call.output_gradient, run.batch, run.first + t);
      for (std::int64_t channels = 0; channels < from.groups; ++channels) {
        const std::int64_t first = channels * group;
        std::copy_n(from.bias.begin() + first, group, ds.begin());
        for (std::int64_t j = 0; j < from.kernel; ++j) {
          const double *input = y.data() + (t + j) * dim + first, *w = taps.weight.data() + taps.start(channels, j);
          for (std::int64_t i = 0; i < group; ++i) add_scaled(input[i], w + i * group, group, ds.data());
        }
        for (std::int64_t c = 0; c < group; ++c) {
          double& value = ds[static_cast<std::size_t>(c)];
          value = element_at(type, dout, first + c) * gelu_slope(value);
          if (!call.bias.empty()) call.bias[static_cast<std::size_t>(first + c)] += value;
        }
        for (std::int64_t j = 0; j < from.kernel; ++j) {
          const std::int64_t place = (t + j) * dim + first, tap = taps.start(channels, j);
          for (std::int64_t i = 0; i < group; ++i) {
            add_scaled(y[static_cast<std::size_t>(place + i)], ds.data(), group,
                       taps.gradient.data() + tap + i * group);
            add_scaled(ds[static_cast<std::size_t>(i)], taps.turned.data() + tap + i * group, group, dy.data() + place);
          }
        }
      }
    }
    for (std::int64_t t = 0; t < run.tokens; ++t) {
      const std::byte* dout = at(call.output_gradient, run.batch, run.first + t);
      std::byte* dx = at(call.input_gradient, run.batch, run.first + t);
      for (std::int64_t c = 0; c < dim; ++c) {
        const double scale = from.input_scale.empty() ? 1 : from.input_scale[static_cast<std::size_t>(c)];
        const double through = dy[static_cast<std::size_t>((from.before + t) * dim + c)];
        store_element(type, dx, c, element_at(type, dout, c) + scale * through);
      }
    }
  }
  if (!call.weight.empty()) taps.add_gradient(call.weight);
}

}  // namespace locus
