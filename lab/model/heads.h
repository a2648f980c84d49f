// SPDX-License-Identifier: Apache-2.0
// Queries, keys and values on their way into attention and back: rotated in place, or made polar in wider heads.
#pragma once

#include <span>

#include "model/blocks.h"

namespace locus::lab {

/// Views part `part` of `parts` of a [rows x length, parts x heads x head_dim] tensor as heads.
HeadsView heads_of(const at::Tensor& tensor, const AttentionSetting& setting, std::int64_t part = 0,
                   std::int64_t parts = 1);

/// Returns queries, keys and values as attention takes them: `qkv` itself, rotated in place, or (polar encodings)
/// new heads, of which values have zeros behind their own coordinates.
at::Tensor positioned(const at::Tensor& qkv, const AttentionSetting& setting);
/// Returns the gradient of `qkv` from that of what positioned() returned, which it overwrites. Adds the gradient of an
/// encoding's phases to `phases`.
at::Tensor positioned_backward(const at::Tensor& qkv, const at::Tensor& gradient, const AttentionSetting& setting,
                               std::span<double> phases);

/// Returns an empty tensor for what attention returns.
at::Tensor attended_like(const at::Tensor& x, const AttentionSetting& setting);
/// Returns the coordinates of what attention returned that are the model's; and back, with zeros for the others.
at::Tensor own_coordinates(const at::Tensor& attended, const AttentionSetting& setting);
at::Tensor own_coordinates_backward(const at::Tensor& gradient, const AttentionSetting& setting);

}  // namespace locus::lab
