// SPDX-License-Identifier: Apache-2.0
// The numbers of the score site: the bias of every query and key.
#pragma once

#include <span>
#include <vector>

#include "locus/encoding.h"

namespace locus {

/// Returns the bias [heads, queries, keys] for these ids, in double.
/// Error: a site other than score, an id out of range.
/// Cost: one evaluation per head and distinct offset where the bias depends on key - query only, else one per head
/// and pair.
std::vector<double> bias_matrix(const Encoding& encoding, std::span<const Position> queries,
                                std::span<const Position> keys);

/// Returns the buckets [queries, keys] of a scheme that looks its bias up by bucket.
/// Error: a scheme without buckets, an id out of range.
/// Cost: one lookup per pair.
std::vector<std::int64_t> bucket_matrix(const Encoding& encoding, std::span<const Position> queries,
                                        std::span<const Position> keys);

}  // namespace locus
