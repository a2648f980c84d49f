// SPDX-License-Identifier: Apache-2.0
// Verifies user code: pass a rotate or attend function with the encoding that it should implement.
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

/// Vectors to rotate in place, each token by its id.
struct RotateRequest {
  std::span<float> data;  ///< [tokens, heads, head_dim]
  std::int64_t tokens = 0;
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;
  std::span<const Position> ids;  ///< [axes, tokens]; one axis for text
  Role role = Role::query;        ///< for xPos; others may ignore it
};
using RotateFunction = std::function<void(const RotateRequest& request)>;

/// Causal attention with the encoding: queries and keys are not rotated yet. A query sees the keys of its document
/// whose id is at most its own, whose mask is not 0 and, with a window, whose id is less than `window` away.
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

  bool causal = true;       ///< false: keys after the query are visible too
  std::int64_t window = 0;  ///< 0: none

  // For functions that keep a cache; others may ignore it.
  std::int64_t sequence = 0;      ///< calls with the same number continue each other
  std::int64_t cached = 0;        ///< number of leading keys passed in earlier calls of this sequence or its parent
  std::int64_t forked_from = -1;  ///< in the first call of a fork: the sequence whose first `cached` keys it shares

  /// [queries, heads]: ln of the sum of e^score. Fill it if your code has it: only here an error that all scores of a
  /// row share is visible. Leave it otherwise.
  std::span<float> log_sum_exp;
};
using AttendFunction = std::function<void(const AttendRequest& request)>;

/// Numbers to add to the scores (site score).
struct BiasRequest {
  std::span<float> bias;  ///< [heads, queries, keys]; keys after the query are not checked if the encoding is
                          ///< for causal attention only
  std::int64_t heads = 0;
  std::span<const Position> query_ids, key_ids;
};
using BiasFunction = std::function<void(const BiasRequest& request)>;

/// Rows to add to tokens (site hidden).
struct RowsRequest {
  std::span<float> rows;  ///< [tokens, dim]
  std::int64_t dim = 0;
  std::span<const Position> ids;
};
using RowsFunction = std::function<void(const RowsRequest& request)>;

/// Facts about the function under verification.
struct VerifyOptions {
  std::uint64_t seed = 1;
  bool thorough = false;  ///< more and longer shapes: minutes instead of seconds
  /// The type that the function computes in or returns. Absent: the coarsest type that holds all returned values.
  std::optional<ElementType> arithmetic = {};
  /// The function accepts the ids 0 ... max_length - 1. Absent: any id; a function that throws above some id is
  /// verified up to there.
  std::optional<Position> max_length = {};

  // Attention only.
  bool causal = true;
  std::int64_t window = 0;  ///< unless 0: the function has a sliding window, |query id - key id| < window
};

/// Calls `rotate` as prefill, in chunks, one token at a time, packed, padded, with scattered, negative and large ids,
/// and compares every row with the exact reference. Checks norms and the relative identity if the encoding claims
/// them. Allows float32 angles at small positions; at large ones only if the encoding's profile has them. After a
/// failure the note names the first diverging token, head and position, and the fault that explains all observed
/// numbers.
/// Error: a site other than query_key, an empty function.
/// Cost: seconds; minutes with `thorough`.
std::vector<Check> verify_rotate(const Encoding& encoding, const RotateFunction& rotate,
                                 const VerifyOptions& options = {});
std::vector<Check> verify_rotate(const Encoding& encoding, const RotateFunction& rotate, std::uint64_t seed);

/// Verifies attention in the same way, with pages of 16 to 256 tokens, windows, forks and groups of heads.
/// Error: ids of several axes, an empty function, the site hidden, whose rows are added before attention
/// (verify_rows).
std::vector<Check> verify_attend(const Encoding& encoding, const AttendFunction& attend,
                                 const VerifyOptions& options = {});
std::vector<Check> verify_attend(const Encoding& encoding, const AttendFunction& attend, std::uint64_t seed);

/// Verifies the numbers of a score bias. Attention hides an error that all keys of a row share; this does not.
/// Error: a site other than score, an empty function.
std::vector<Check> verify_bias(const Encoding& encoding, const BiasFunction& bias, const VerifyOptions& options = {});

/// Verifies the rows that are added to tokens.
/// Error: a site other than hidden, an empty function.
std::vector<Check> verify_rows(const Encoding& encoding, const RowsFunction& rows, const VerifyOptions& options = {});

}  // namespace locus
