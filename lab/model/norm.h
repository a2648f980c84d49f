// SPDX-License-Identifier: Apache-2.0
// Root mean square norm of rows, forward and backward, each in one pass over memory.
#pragma once

#include "model/torch.h"

namespace locus::lab {

inline constexpr float norm_epsilon = 1e-5f;

/// y = x r gain with r = 1 / sqrt(mean(x^2) + norm_epsilon) per row; x and y [rows, width], contiguous; r [rows].
void norm_rows(const at::Tensor& x, const at::Tensor& gain, at::Tensor& y, at::Tensor& r);

/// Given the gradient of y, adds that of x to `dx` and writes that of the gain.
void norm_rows_backward(const at::Tensor& x, const at::Tensor& gain, const at::Tensor& r, const at::Tensor& dy,
                        at::Tensor& dx, at::Tensor& dgain);

/// The same as an autograd function.
at::Tensor norm(const at::Tensor& x, const at::Tensor& gain);

}  // namespace locus::lab
