// SPDX-License-Identifier: Apache-2.0
#include "model/norm.h"

#include <cmath>

namespace locus::lab {
namespace {

// Sums have eight lanes, which the compiler can keep in vectors; the order, and so every bit, is fixed.
constexpr std::int64_t lanes = 8;

struct Lanes {
  float at[lanes] = {};
  float total() const { return ((at[0] + at[4]) + (at[2] + at[6])) + ((at[1] + at[5]) + (at[3] + at[7])); }
};

template <class Term>
float sum(std::int64_t width, const Term& term) {
  Lanes partial;
  std::int64_t i = 0;
  for (; i + lanes <= width; i += lanes) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) partial.at[lane] += term(i + lane);
  }
  float rest = 0;
  for (; i < width; ++i) rest += term(i);
  return partial.total() + rest;
}

struct Norm : torch::autograd::Function<Norm> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, const at::Tensor& gain) {
    at::Tensor y = at::empty_like(x), r = at::empty({x.size(0)});
    norm_rows(x, gain, y, r);
    context->save_for_backward({x, gain, r});
    return y;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = context->get_saved_variables();
    at::Tensor dx = at::zeros_like(saved[0]), dgain = at::empty_like(saved[1]);
    norm_rows_backward(saved[0], saved[1], saved[2], gradients[0].contiguous(), dx, dgain);
    return {dx, dgain};
  }
};

}  // namespace

void norm_rows(const at::Tensor& x, const at::Tensor& gain, at::Tensor& y, at::Tensor& r) {
  const std::int64_t rows = x.size(0), width = x.size(1);
  const float* __restrict from = x.data_ptr<float>();
  const float* __restrict factor = gain.data_ptr<float>();
  float* __restrict to = y.data_ptr<float>();
  float* __restrict inverse = r.data_ptr<float>();
  for (std::int64_t row = 0; row < rows; ++row, from += width, to += width) {
    const float squares = sum(width, [&](std::int64_t i) { return from[i] * from[i]; });
    const float scale = 1 / std::sqrt(squares / static_cast<float>(width) + norm_epsilon);
    inverse[row] = scale;
    for (std::int64_t i = 0; i < width; ++i) to[i] = from[i] * scale * factor[i];
  }
}

// y_i = g_i x_i r, dr/dx_i = -r^3 x_i / width:  dx_i += r (g_i dy_i - x_i r^2 / width sum_j g_j dy_j x_j).
void norm_rows_backward(const at::Tensor& x, const at::Tensor& gain, const at::Tensor& r, const at::Tensor& dy,
                        at::Tensor& dx, at::Tensor& dgain) {
  const std::int64_t rows = x.size(0), width = x.size(1);
  const float* __restrict from = x.data_ptr<float>();
  const float* __restrict factor = gain.data_ptr<float>();
  const float* __restrict inverse = r.data_ptr<float>();
  const float* __restrict gradient = dy.data_ptr<float>();
  float* __restrict to = dx.data_ptr<float>();
  float* __restrict to_gain = dgain.data_ptr<float>();
  std::fill_n(to_gain, width, 0.0f);
  for (std::int64_t row = 0; row < rows; ++row, from += width, gradient += width, to += width) {
    const float scale = inverse[row];
    const float along = sum(width, [&](std::int64_t i) { return factor[i] * gradient[i] * from[i]; });
    const float back = along * scale * scale / static_cast<float>(width);
    for (std::int64_t i = 0; i < width; ++i) {
      to[i] += scale * (factor[i] * gradient[i] - from[i] * back);
      to_gain[i] += gradient[i] * from[i] * scale;
    }
  }
}

at::Tensor norm(const at::Tensor& x, const at::Tensor& gain) { return Norm::apply(x, gain); }

}  // namespace locus::lab
