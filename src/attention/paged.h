// SPDX-License-Identifier: Apache-2.0
// A few queries of each of many sequences over keys and values in pages, read in place.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "attention/problem.h"
#include "kernels/transition.h"

namespace locus {

/// Consecutive tokens of a sequence that are contiguous in memory. Addresses are those of head 0.
struct PageSpan {
  std::int64_t count = 0;
  const std::byte *keys = nullptr, *values = nullptr;
  const float *key_scales = nullptr, *value_scales = nullptr;  ///< null unless integers
  KeyTurns turns = {};                                         ///< by which keys must be turned; none: as stored

  bool same_tokens(const PageSpan& other) const {
    return keys == other.keys && count == other.count && turns == other.turns;
  }
};

/// How pages are laid out. Tokens of a head are head_dim elements apart, their scales 1.
struct PageLayout {
  ElementType type = ElementType::float32;
  bool integers = false;
  std::int64_t element_size = 4;
  std::int64_t head_stride = 0;   ///< elements from one head to the next
  std::int64_t scale_stride = 0;  ///< scales from one head to the next
  const KeyTurn* turn = nullptr;  ///< how keys turn; null if none does
};

/// Keys (or values) of one head as stored, [count][dim].
struct StoredKeys {
  const std::byte* keys = nullptr;
  const float* scales = nullptr;
  std::int64_t count = 0, dim = 0;
  KeyTurns turns = {};
};
/// Writes turned keys in their stored form, as settling them would. They must have a turn.
void turn_stored(const PageLayout& layout, const StoredKeys& from, std::byte* out, float* scales);
/// Writes the same as elements, or as floats from integers; keys without a turn are copied.
void turn_to_numbers(const PageLayout& layout, const StoredKeys& from, std::byte* out);

/// The queries of one sequence. Its problem has one document and one batch row.
struct PagedQueries {
  std::unique_ptr<const Problem> problem;
  std::vector<PageSpan> spans;
  std::span<const std::uint8_t> tree = {};  ///< [queries, queries], or empty
};

/// Whether attend_paged computes this call; others are computed in tiles.
bool is_for_pages(const Problem& problem);

/// Computes attention of all sequences. The work is cut by keys into pieces that do not depend on the threads.
void attend_paged(std::span<const PagedQueries> sequences, const PageLayout& layout, Executor* executor);

}  // namespace locus
