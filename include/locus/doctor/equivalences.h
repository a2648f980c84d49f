// SPDX-License-Identifier: Apache-2.0
// The same tokens give the same attention, however they are padded, packed, cut, cached, forked, sharded or moved.
#pragma once

#include <cstdint>
#include <vector>

#include "locus/doctor/check.h"
#include "locus/encoding.h"

namespace locus {

struct EquivalenceOptions {
  std::uint64_t seed = 1;  ///< of the shapes and of the tokens
  int shapes = 3;          ///< random ones; the first of several has over 128 tokens where the encoding goes so far
  bool thorough = false;   ///< longer ones and more of them: minutes instead of seconds
};

/// Runs Locus's own attention and cache on random tokens in float32, bfloat16 and float16 and compares every way of
/// cutting them with the whole. What is expected follows the encoding's claims: where it makes none (absolute schemes
/// when shifted, tables that depend on the length when decoded, full attention when decoded), the difference must be
/// the one that the reference predicts in double. One line per way and type: the worst entry over the shapes.
std::vector<Check> verify_equivalences(const Encoding& encoding, const EquivalenceOptions& options = {});

/// Our own rotate and attend, in float32, held against the exact reference as a user's are (verify_callable.h): pages of
/// 16 to 256 tokens, forks, groups of heads, thousands of keys, ids around powers of two up to 2^31 and below 0. Empty
/// at the site hidden.
std::vector<Check> verify_reach(const Encoding& encoding, const EquivalenceOptions& options = {});

}  // namespace locus
