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
/// Returns whether keys in a cache may move: not if values or single heads are rotated differently.
bool keys_move(const Encoding& encoding);
/// A batch of three rows: all tokens, some of them, one token.
PathResult padded(const Sample& sample, ElementType type, bool left);
/// The same three rows, concatenated.
PathResult packed(const Sample& sample, ElementType type);
/// Caches a prefix that a different text continues; this text continues from a fork.
PathResult forked(const Sample& sample, ElementType type);
/// Through a cache, with a random history of forks, drafts, moves and slides that are undone.
PathResult with_history(const Sample& sample, ElementType type, RandomNumbers& random);
/// The last token over keys that were stored `by` positions further on and moved back.
PathResult moved_back(const Sample& sample, ElementType type, Position by, RandomNumbers& random);
/// Splits the keys over four ranks and merges the results by their log-sum-exps.
PathResult sharded(const Sample& sample, ElementType type, positions::ShardKind kind);
/// Returns the number of ranks, or 0 if the tokens cannot be split evenly.
std::int64_t ranks_for(const Sample& sample);

/// Keys and values as attention reads them.
struct KeysAndValues {
  HeadsView keys, values;
  std::span<const Position> places;  ///< of the keys
  HeadsView numbers = {};            ///< that their tokens bring
};

/// Runs attend() for the queries of these tokens of the sample over the given keys.
void attend_to(const Sample& sample, const Encoding& encoding, const Encoded& queries, const KeysAndValues& over,
               std::span<const std::int64_t> tokens, PathResult& into);

std::vector<std::int64_t> range(std::int64_t first, std::int64_t count);

}  // namespace locus::doctor
