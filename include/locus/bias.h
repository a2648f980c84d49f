// SPDX-License-Identifier: Apache-2.0
// The score site as numbers: the bias of every query against every key.
#pragma once

#include <span>
#include <vector>

#include "locus/encoding.h"

namespace locus {

/// Bias [heads, queries, keys] for these ids, in double. Distinct offsets are computed once where the bias depends on
/// key - query only. Error for ids outside the encoding's range.
std::vector<double> bias_matrix(const Encoding& encoding, std::span<const Position> queries,
                                std::span<const Position> keys);

/// Buckets [queries, keys] of a scheme that looks its bias up by bucket; Error for others.
std::vector<std::int64_t> bucket_matrix(const Encoding& encoding, std::span<const Position> queries,
                                        std::span<const Position> keys);

}  // namespace locus
