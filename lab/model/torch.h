// SPDX-License-Identifier: Apache-2.0
// The parts of libtorch that the model uses: tensors, autograd and custom functions. Without its modules, compiling
// takes half the time.
#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

namespace locus::lab {
using at::NoGradGuard;
}
