// SPDX-License-Identifier: Apache-2.0
// Rows made from the neighbours' vectors, added by the library's kernel, as an autograd function.
#pragma once

#include "model/blocks.h"

namespace locus::lab {

/// Returns x [rows x length, width] with the encoding's rows added. `learned` holds the encoding's weights in the order
/// of setting->learned: they get gradients, but are read from setting->encoding.
at::Tensor with_neighbours(const at::Tensor& x, const at::Tensor& learned, const SharedSetting& setting);

}  // namespace locus::lab
