// SPDX-License-Identifier: Apache-2.0
// Checks that the same tokens give the same attention, however they are padded, packed, cut, cached, forked, sharded
// or moved.
#pragma once

#include <cstdint>
#include <vector>

#include "locus/doctor/check.h"
#include "locus/encoding.h"

namespace locus {

struct EquivalenceOptions {
  std::uint64_t seed = 1;  ///< of the shapes and of the tokens
  int shapes = 3;          ///< random ones; the first of several has over 128 tokens if the encoding reaches that far
  bool thorough = false;   ///< more and longer shapes: minutes instead of seconds
};

/// Runs Locus's attention and cache on random tokens in float32, bfloat16 and float16 and compares every way of
/// cutting them with the whole. Where the encoding's claims predict a difference (absolute schemes when shifted,
/// tables that depend on the length when decoded, full attention when decoded), it must be the difference that the
/// reference predicts in double. Returns one check per way and type, with the worst entry over the shapes.
/// Cost: seconds; minutes with `thorough`.
std::vector<Check> verify_equivalences(const Encoding& encoding, const EquivalenceOptions& options = {});

/// Compares Locus's rotate and attend, in float32, with the exact reference, as verify_callable.h does for user code:
/// pages of 16 to 256 tokens, forks, groups of heads, thousands of keys, ids around powers of two up to 2^31 and
/// below 0. Returns nothing at the site hidden.
std::vector<Check> verify_reach(const Encoding& encoding, const EquivalenceOptions& options = {});

}  // namespace locus
