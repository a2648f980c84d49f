// SPDX-License-Identifier: Apache-2.0
// Reference versions of the operations: scalar, in double, written for clarity. Kernels are checked against them.
//
// They share no table and no helper with the kernels: angles are reduced in radians, not in turns. Ids are not
// checked.
#pragma once

#include <span>
#include <vector>

#include "locus/encoding.h"
#include "locus/rotate.h"

namespace locus::reference {

/// Returns the factor of a query at this position; 1 for keys.
double query_factor(const Rotation& rotation, Role role, Position id);

/// Fills cos and sin of one token, times magnitude, scale and query factor. `ids` has one id per axis.
/// Accuracy: within 1e-15 + |id| * 1e-19 for the exact profile. Other profiles are defined by their float32 rows.
void rotation_row(const Rotation& rotation, Role role, std::span<const Position> ids, std::span<double> cos,
                  std::span<double> sin);

/// Replaces the cos and sin of a token by those of a key head, where a HeadMix says so.
void mix_row(const Rotation& rotation, std::int64_t key_head, std::vector<double>& cos, std::vector<double>& sin);

/// Rotates one head of `rotation.head_dim` values to the position `ids`, one id per axis. `key_head` matters where
/// key heads have rows of their own.
std::vector<double> rotate(const Rotation& rotation, Role role, Direction direction, std::span<const Position> ids,
                           std::span<const double> head, std::int64_t key_head = 0);

/// Makes one head of `polar.head_dim` values polar: `polar.head_dim + polar.channels` values. `key_head` matters for keys.
std::vector<double> to_polar(const Polar& polar, Role role, std::span<const double> head, std::int64_t key_head = 0);

/// Returns the row that is added to the token with this id, for rows of an id alone.
std::vector<double> hidden_row(const HiddenRows& hidden, Position id);

/// Adds the rows of tokens with these ids to their vectors [tokens, dim], from neighbours too.
std::vector<double> add_rows(const HiddenRows& hidden, std::span<const Position> ids, std::span<const double> states);

/// A query and a key of one head, with their positions.
struct QueryAndKey {
  std::span<const double> query, key;
  Position query_id = 0, key_id = 0;
};

/// Returns the score of the query and the key before the softmax, `scale * (dot(q, k) + position term)` as the scheme
/// defines it.
double relative_score(const RelativeKeys& keys, std::int64_t head, const QueryAndKey& pair, double scale);

}  // namespace locus::reference
