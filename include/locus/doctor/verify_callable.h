// SPDX-License-Identifier: Apache-2.0
// The verifier for code that is not ours: hand in a rotate or an attend with the encoding that it means to implement.
//
//   const Encoding encoding("rope", {{"head_dim", 64}, {"pairing", "half"}});
//   for (const Check& check : verify_rotate(encoding, [](const RotateRequest& r) { my_rotate(r.data, r.ids); }))
//     std::cout << check.name << ' ' << (check.pass ? "pass" : "FAIL") << ' ' << check.note << '\n';
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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
  Role role = Role::query;        ///< for xPos; others may ignore it
};
using RotateFunction = std::function<void(const RotateRequest& request)>;

/// Causal attention of queries over keys, the encoding's part included: queries and keys come as they are projected.
/// A query sees the keys of its document whose id is not above its own, whose mask is not 0 and, with a window, whose
/// id is less than `window` away.
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

  bool causal = true;       ///< false: keys after the query are seen too
  std::int64_t window = 0;  ///< 0: none

  // For functions that keep a cache of their own; others may ignore it.
  std::int64_t sequence = 0;      ///< calls with the same number go on from each other
  std::int64_t cached = 0;        ///< so many leading keys came with earlier calls of this sequence or of its parent
  std::int64_t forked_from = -1;  ///< in the first call of a fork: the sequence whose first `cached` keys it shares

  /// [queries, heads]: ln of the sum of e^score. Fill it where your code has it: an error that all scores of a row
  /// share is seen in here alone. Leave it otherwise.
  std::span<float> log_sum_exp;
};
using AttendFunction = std::function<void(const AttendRequest& request)>;

/// Numbers that are added to the scores (site score).
struct BiasRequest {
  std::span<float> bias;  ///< [heads, queries, keys]; those of keys after the query are not looked at where the
                          ///< encoding is meant for causal attention only
  std::int64_t heads = 0;
  std::span<const Position> query_ids, key_ids;
};
using BiasFunction = std::function<void(const BiasRequest& request)>;

/// Rows that are added to tokens (site hidden).
struct RowsRequest {
  std::span<float> rows;  ///< [tokens, dim]
  std::int64_t dim = 0;
  std::span<const Position> ids;
};
using RowsFunction = std::function<void(const RowsRequest& request)>;

/// What is known of the function under verification.
struct VerifyOptions {
  std::uint64_t seed = 1;
  bool thorough = false;  ///< more shapes and longer ones: minutes instead of seconds
  /// The type that the function computes in or returns. Absent: the coarsest that holds all that it returned.
  std::optional<ElementType> arithmetic = {};
  /// The function serves the ids 0 ... max_length - 1. Absent: any id; a function that throws for ids beyond some end
  /// is verified up to there.
  std::optional<Position> max_length = {};

  // Attention only.
  bool causal = true;
  std::int64_t window = 0;  ///< unless 0: the function is one of a sliding window, |query id - key id| < window
};

/// Calls `rotate` as prefill, in chunks, one token at a time, packed, padded, with scattered ids, below 0 and far out,
/// and compares every row with the exact reference; and norms and the relative identity, where the encoding claims
/// them. Float32 angles are allowed for at small positions, not at large ones unless the encoding's profile has them.
/// After a failure the note names the first diverging token, head and position, and the fault that gives all numbers
/// that were seen, those of passed checks included. Error unless the site is query_key.
std::vector<Check> verify_rotate(const Encoding& encoding, const RotateFunction& rotate,
                                 const VerifyOptions& options = {});
std::vector<Check> verify_rotate(const Encoding& encoding, const RotateFunction& rotate, std::uint64_t seed);

/// The same for attention, with pages of 16 to 256 tokens, windows, forks and groups of heads. Error at the site hidden,
/// whose rows are in the vectors before attention sees them (verify_rows), and for ids of several axes.
std::vector<Check> verify_attend(const Encoding& encoding, const AttendFunction& attend,
                                 const VerifyOptions& options = {});
std::vector<Check> verify_attend(const Encoding& encoding, const AttendFunction& attend, std::uint64_t seed);

/// The numbers themselves, where attention would hide what a row shares. Error unless the site is score.
std::vector<Check> verify_bias(const Encoding& encoding, const BiasFunction& bias, const VerifyOptions& options = {});

/// Error unless the site is hidden.
std::vector<Check> verify_rows(const Encoding& encoding, const RowsFunction& rows, const VerifyOptions& options = {});

}  // namespace locus
