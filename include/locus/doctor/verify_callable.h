// SPDX-License-Identifier: Apache-2.0
// The verifier for code that is not ours: hand in a rotate or an attend with the encoding that it means to implement.
//
//   const Encoding encoding("rope", {{"head_dim", 64}, {"pairing", "half"}});
//   for (const Check& check : verify_rotate(encoding, [](const RotateRequest& r) { my_rotate(r.data, r.ids); }))
//     std::cout << check.name << ' ' << (check.pass ? "pass" : "FAIL") << ' ' << check.note << '\n';
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "locus/doctor/check.h"
#include "locus/encoding.h"

namespace locus {

/// Vectors to be rotated in place, each token by its own id.
struct RotateRequest {
  std::span<float> data;  ///< [tokens, heads, head_dim]
  std::int64_t tokens = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::span<const Position> ids;  ///< [axes, tokens]; one axis for text
  Role role = Role::query;        ///< for xPos; others may overlook it
};
using RotateFunction = std::function<void(const RotateRequest& request)>;

/// Causal attention of queries over keys, the encoding's part included: queries and keys come as they are projected.
/// A query sees the keys of its document whose id is not above its own and whose mask is not 0.
struct AttendRequest {
  std::span<const float> query;       ///< [queries, heads, head_dim]
  std::span<const float> key, value;  ///< [keys, key_heads, head_dim]
  std::span<float> output;            ///< [queries, heads, head_dim]
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t heads = 0;
  std::int64_t key_heads = 0;  ///< query head h uses key head h / (heads / key_heads)
  std::int64_t head_dim = 0;
  std::span<const Position> query_ids, key_ids;
  /// Packed documents: 0, l0, l0 + l1, ...; empty for one document.
  std::span<const std::int64_t> query_boundaries, key_boundaries;
  std::span<const std::uint8_t> key_mask;  ///< [keys], 0 for padding; empty for none
};
using AttendFunction = std::function<void(const AttendRequest& request)>;

/// Calls `rotate` as prefill, in chunks, one token at a time, packed, padded, with scattered ids and far out, and
/// compares with the exact reference; and norms and the relative identity, where the encoding claims them. Float32
/// angles are allowed for at small positions, not at large ones. After a failure the note names the first diverging
/// token, head and position and the known fault that explains all that was seen. Error unless the site is query_key.
std::vector<Check> verify_rotate(const Encoding& encoding, const RotateFunction& rotate, std::uint64_t seed = 1);

/// The same for attention. Error at the site hidden, whose rows are in the vectors before attention sees them, and for
/// ids of several axes.
std::vector<Check> verify_attend(const Encoding& encoding, const AttendFunction& attend, std::uint64_t seed = 1);

}  // namespace locus
