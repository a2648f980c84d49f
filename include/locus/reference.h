// SPDX-License-Identifier: Apache-2.0
// The same operations, scalar, in double, obviously right: what kernels are checked against.
//
// Nothing here shares a table or a helper with the fast path: angles are reduced in radians, not in turns.
#pragma once

#include <span>
#include <vector>

#include "locus/encoding.h"
#include "locus/rotate.h"

namespace locus::reference {

/// cos and sin of one token, times magnitude and scale, within 1e-15 + |id| * 1e-19 of the true value for the exact
/// profile. Other profiles are defined by their float32 rows, which are taken as they are.
void rotation_row(const Rotation& rotation, Role role, std::span<const Position> ids, std::span<double> cos,
                  std::span<double> sin);

/// One head of `rotation.head_dim` values at one place.
std::vector<double> rotate(const Rotation& rotation, Role role, Direction direction, std::span<const Position> ids,
                           std::span<const double> head);

/// The row added to the token with this id.
std::vector<double> hidden_row(const HiddenRows& hidden, Position id);

/// Score of one query against one key before the softmax, `scale * (q . k + position term)` as the scheme defines it.
double relative_score(const RelativeKeys& keys, std::int64_t head, std::span<const double> query,
                      std::span<const double> key, Position query_id, Position key_id, double scale);

}  // namespace locus::reference
