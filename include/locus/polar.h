// SPDX-License-Identifier: Apache-2.0
// PoPE's first half: makes queries and keys polar. What follows is a rotation like any other (rotate.h).
#pragma once

#include <span>

#include "locus/rotate.h"

namespace locus {

/// Makes the heads of `views.input` (Polar::head_dim wide) polar and writes them to `views.output` (as wide as the
/// rotation): pairs of length softplus, at the angle 0 (queries) or at the phase of their head (keys), then the
/// other coordinates. Rotate and store them as usual; rotate() with these two widths does both steps.
/// Error: an encoding that is not polar, shapes that do not match, key heads other than the encoding's.
/// Accuracy: within 6 float32 roundings (float64: 6 of its own), then one rounding to the element type.
/// Cost: one pass over the memory.
void to_polar(const Encoding& encoding, const RotateViews& views, Role role, Executor* executor = nullptr);

/// The backward pass of to_polar(): `input` is what it took, `output_gradient` the gradient of what it wrote.
struct PolarGradientCall {
  HeadsView input;
  HeadsView output_gradient;
  HeadsView input_gradient;       ///< written completely; may be neither of the others
  std::span<double> phases = {};  ///< gradient of the phases [heads, channels], added to; of keys only
};

/// The gradient of a phase is that at its clamped value.
/// Error: as to_polar(); `phases` of another size.
/// Accuracy: computes in double.
void to_polar_backward(const Encoding& encoding, const PolarGradientCall& call, Role role);

/// Returns what makes the heads of this encoding polar; null if nothing does.
const Polar* polar_of(const Encoding& encoding);

}  // namespace locus
