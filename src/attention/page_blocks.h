// SPDX-License-Identifier: Apache-2.0
// The keys and values of a portion of a sequence, block by block, where they are in pages.
#pragma once

#include <span>
#include <vector>

#include "attention/aligned_floats.h"
#include "attention/paged.h"

namespace locus {

constexpr std::int64_t portion_keys = 256;
constexpr std::int64_t keys_at_once = 32;
constexpr std::int64_t turned_at_once = 8;  // their turned form stays in the L1 cache until it is used

/// A contiguous part of a block: `at` is its first column.
struct Piece {
  std::int64_t at = 0;
  StoredRows keys, values;
  const float *key_scales = nullptr, *value_scales = nullptr;
  KeyTurns turns = {};
};

/// Reads the blocks of one head of a portion, one after the other.
class BlockReader {
 public:
  BlockReader(const PageLayout& layout, std::int64_t dim) : layout_(layout), dim_(dim) {}

  /// Begins with a portion. `spans` must stay until the next one begins.
  void begin(std::span<const PageSpan> spans, std::int64_t head);
  /// What is read after the portion.
  void set_following(const PageSpan& span, std::int64_t head);
  /// Advances by `count` tokens. Then pieces() are those of the tokens that were next before.
  void advance(std::int64_t count);
  /// The pieces of the current block as stored, with the addresses of what is read after them.
  std::span<const Piece> pieces() const { return pieces_; }

  /// Calls use(part) for parts of a piece, in order, whose keys are turned.
  template <class Use>
  void for_turned_keys(const Piece& piece, const Use& use) {
    if (!piece.turns.any()) return use(piece);
    for (std::int64_t first = 0; first < piece.keys.rows; first += turned_at_once) use(turned(piece, first));
  }

 private:
  Piece piece(const PageSpan& span, std::int64_t at, std::int64_t count) const;
  /// Turns up to turned_at_once keys of a piece.
  Piece turned(const Piece& piece, std::int64_t first);

  const PageLayout& layout_;
  std::int64_t dim_;
  std::span<const PageSpan> spans_;
  std::int64_t head_ = 0;
  std::size_t span_ = 0;
  std::int64_t used_ = 0;
  const std::byte* following_ = nullptr;
  std::int64_t following_count_ = 0;
  std::vector<Piece> pieces_, next_;
  std::vector<std::byte> keys_;
  std::vector<float> scales_;
};

/// Computes turns that are products of an anchor and a step, for all heads of a portion.
class ComputedTurns {
 public:
  ComputedTurns(const PageLayout& layout, std::int64_t dim) : layout_(layout), dim_(dim) {}

  /// Returns the spans with all turns as rows, which stay until the next call. Starts to load the keys of the first head
  /// meanwhile.
  std::span<const PageSpan> computed(std::span<const PageSpan> spans);

 private:
  struct Product {
    const double* anchor;
    std::int32_t step;
    float* row;
  };
  void list_products();
  void sort_by_step();

  const PageLayout& layout_;
  std::int64_t dim_;
  std::vector<PageSpan> spans_;
  AlignedFloats rows_;
  std::vector<const float*> each_;  // of the keys
  std::vector<Product> products_, sorted_;
};

}  // namespace locus
