// SPDX-License-Identifier: Apache-2.0
// The ways in which the same tokens reach attention. Each gives the rows that it computed and whose tokens they are.
#pragma once

#include <vector>

#include "doctor/verify/sample.h"

namespace locus::doctor {

struct PathResult {
  std::vector<std::int64_t> tokens;  ///< row r is about this token of the sample
  std::vector<double> output;        ///< [rows, heads, head_dim]
};

PathResult whole(const Sample& sample, ElementType type, Position shift = 0, bool causal = true);
/// Through a cache: a first chunk, then chunks of the given size.
PathResult chunked(const Sample& sample, ElementType type, std::int64_t first, std::int64_t size);
/// The second half as a tree of drafts, each beside a wrong one at the same place, verified in one call: the rows of the
/// right ones.
PathResult drafted(const Sample& sample, ElementType type);
/// Rows of the whole, a part of it and one token in one batch.
PathResult padded(const Sample& sample, ElementType type, bool left);
/// The same three behind each other.
PathResult packed(const Sample& sample, ElementType type);
/// A prefix is cached; another text goes on from it, and so does this one from a fork.
PathResult forked(const Sample& sample, ElementType type);
/// Keys over four ranks, results merged by their log-sum-exps.
PathResult sharded(const Sample& sample, ElementType type, positions::ShardKind kind);
/// The number of ranks, or 0 where the tokens cannot be cut evenly.
std::int64_t ranks_for(const Sample& sample);

/// Whether a KvCache takes these keys: it wants one axis of plain positions.
bool cacheable(const Encoding& encoding);

/// Keys and values as attention meets them.
struct KeysAndValues {
  HeadsView keys, values;
  std::span<const Position> places;  ///< of the keys
};

/// attend() of some queries of the sample, which are these tokens, over keys.
void attend_to(const Sample& sample, const Encoding& encoding, const Encoded& queries, const KeysAndValues& over,
               std::span<const std::int64_t> tokens, PathResult& into);

std::vector<std::int64_t> range(std::int64_t first, std::int64_t count);

}  // namespace locus::doctor
