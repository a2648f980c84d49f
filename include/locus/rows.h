// SPDX-License-Identifier: Apache-2.0
// The row of one token: the cos and sin that rotate it, or the vector that is added to it.
//
// A row depends only on the encoding and the token's ids, so every function returns the same bits. Ids are not
// checked.
#pragma once

#include <span>

#include "locus/site.h"

namespace locus {

/// Returns the factor of a query at this position (QueryScale); 1 for keys.
inline double query_factor(const Rotation& rotation, Role role, Position id) {
  return role == Role::query && rotation.query_scale ? rotation.query_scale->at(id) : 1;
}

/// Fills cos and sin (each `rotation.pairs()` long, times magnitude, scale and query factor) for one token with one
/// id per axis.
/// Accuracy: the exact profile is within half a float32 ulp of the magnitude plus 2e-9; the double form within 1e-15
/// + |id| * 2e-19. Other profiles give the numbers of the engine's float32 arithmetic.
void rotation_row(const Rotation& rotation, Role role, std::span<const Position> ids, std::span<float> cos,
                  std::span<float> sin);
void rotation_row(const Rotation& rotation, Role role, std::span<const Position> ids, std::span<double> cos,
                  std::span<double> sin);

/// The same in double for a head: with HeadMix, the rows of key heads differ.
void head_row(const Rotation& rotation, Role role, std::span<const Position> ids, std::int64_t key_head,
              std::span<double> cos, std::span<double> sin);

/// Fills rows [count, 2 * pairs], each [cos | sin], for consecutive or given positions, without query factors. Faster
/// than rotation_row.
/// Error: an encoding of several axes.
void rotation_rows(const Rotation& rotation, Position first, std::int64_t count, float* rows);
void rotation_rows(const Rotation& rotation, std::span<const Position> positions, float* rows);

/// Fills the row that is added to the token with this id. Accuracy of waves as above; a table's row is copied.
/// Error: rows that are made from neighbours.
void hidden_row(const HiddenRows& hidden, Position id, std::span<float> row);
void hidden_row(const HiddenRows& hidden, Position id, std::span<double> row);

}  // namespace locus
