// SPDX-License-Identifier: Apache-2.0
// The output kernel: rotates what attention returned back by the position of its query.
#pragma once

#include "locus/rotate.h"

namespace locus {

/// Rotates the output of attention by minus the position of each query, in place. `ids` are those of the queries.
/// The encoding must have turned_output; its values were rotated like keys (rotate() with Role::key), also before they
/// went into a cache, so that the result depends on differences of positions only.
/// Error: an encoding without turned_output, and as rotate().
/// Accuracy and cost: as rotate().
void turn_output(const Encoding& encoding, const HeadsView& output, const PositionIds& ids,
                 Executor* executor = nullptr);

/// Returns whether the encoding turns the output of attention, so that values are rotated too.
bool turns_output(const Encoding& encoding);

}  // namespace locus
