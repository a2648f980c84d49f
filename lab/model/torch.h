// SPDX-License-Identifier: Apache-2.0
// What the model uses of libtorch: tensors, autograd and functions of one's own, not its modules; half the compile
// time.
#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

namespace locus::lab {
using at::NoGradGuard;
}
