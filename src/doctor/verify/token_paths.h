// SPDX-License-Identifier: Apache-2.0
// The paths by which the same tokens reach attention. Each returns the rows it computed and their tokens.
#pragma once

#include <vector>

#include "doctor/verify/sample.h"

namespace locus::doctor {

struct PathResult {
  std::vector<std::int64_t> tokens;  ///< row r belongs to this token of the sample
  std::vector<double> output;        ///< [rows, heads, head_dim]
};

PathResult whole(const Sample& sample, ElementType type, Position shift = 0, bool causal = true);
/// Through a cache: a first chunk, then chunks of the given size.
PathResult chunked(const Sample& sample, ElementType type, std::int64_t first, std::int64_t size);
/// The second half as a tree of drafts, each beside a wrong one with the same ids, verified in one call. Returns the rows
/// of the right ones.
PathResult drafted(const Sample& sample, ElementType type);
/// A batch of three rows: all tokens, some of them, one token.
PathResult padded(const Sample& sample, ElementType type, bool left);
/// The same three rows, concatenated.
PathResult packed(const Sample& sample, ElementType type);
/// Caches a prefix that a different text continues; this text continues from a fork.
PathResult forked(const Sample& sample, ElementType type);
/// Splits the keys over four ranks and merges the results by their log-sum-exps.
PathResult sharded(const Sample& sample, ElementType type, positions::ShardKind kind);
/// Returns the number of ranks, or 0 if the tokens cannot be split evenly.
std::int64_t ranks_for(const Sample& sample);

/// True if a KvCache accepts these keys: one axis of plain positions.
bool cacheable(const Encoding& encoding);

/// Keys and values as attention reads them.
struct KeysAndValues {
  HeadsView keys, values;
  std::span<const Position> places;  ///< of the keys
};

/// Runs attend() for the queries of these tokens of the sample over the given keys.
void attend_to(const Sample& sample, const Encoding& encoding, const Encoded& queries, const KeysAndValues& over,
               std::span<const std::int64_t> tokens, PathResult& into);

std::vector<std::int64_t> range(std::int64_t first, std::int64_t count);

}  // namespace locus::doctor
