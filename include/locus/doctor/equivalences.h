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
};

/// Runs Locus's own attention and cache on random tokens in float32, bfloat16 and float16 and compares every way of
/// cutting them with the whole. What is expected follows the encoding's claims: where it makes none (absolute schemes
/// when shifted, tables that depend on the length when decoded, full attention when decoded), the difference must be
/// the one that the reference predicts in double. One line per way and type: the worst entry over the shapes.
std::vector<Check> verify_equivalences(const Encoding& encoding, const EquivalenceOptions& options = {});

}  // namespace locus
