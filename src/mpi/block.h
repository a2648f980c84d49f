// SPDX-License-Identifier: Apache-2.0
// The block that travels: the keys, values, ids and pieces of one rank in one message.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "locus/mpi/ring_attention.h"

namespace locus::mpi {

/// What is the same for the blocks of all ranks.
struct BlockKind {
  std::int64_t batch = 1, heads = 1, head_dim = 0;  ///< of keys
  ElementType type = ElementType::float32;
  std::int64_t masked_rows = 0;   ///< rows of mask.keys: 0, 1 or batch
  std::int64_t number_heads = 0;  ///< query heads, if tokens bring numbers
  std::int64_t numbers = 0;       ///< per head
};
BlockKind block_kind(const RingCall& call, std::int64_t masked_rows);

/// Where the parts of a block of some tokens and pieces are, in bytes.
struct BlockLayout {
  BlockLayout(const BlockKind& kind, std::int64_t tokens, std::int64_t pieces);
  std::size_t pieces = 0, ids = 0, tokens = 0, numbers = 0, keys = 0, values = 0, masked = 0, size = 0;
};

/// Elements of a tensor, contiguous as [batch][tokens][heads][dim], from any view.
void copy_tokens(const HeadsView& from, void* to);
/// The same in float32.
void widen_tokens(const HeadsView& from, float* to);
/// Rounds floats of that order to the type of a view.
void store_tokens(const float* from, const HeadsView& to);
/// A view of contiguous elements in that order.
HeadsView contiguous_view(void* data, ElementType type, std::int64_t batch, std::int64_t tokens, std::int64_t heads,
                          std::int64_t dim);

class Block {
 public:
  /// Room for the block of a rank with that many tokens and pieces.
  Block(const BlockKind& kind, std::int64_t tokens, std::int64_t pieces);
  /// The block of this rank.
  Block(const BlockKind& kind, const RingCall& call);

  std::span<std::byte> bytes() { return bytes_; }
  std::int64_t token_count() const { return count_; }
  std::span<const positions::Piece> pieces() const;
  std::span<const Position> ids() const;
  std::span<const std::int64_t> tokens() const;  ///< indices in the packed row
  std::span<const std::uint8_t> masked() const;  ///< [masked_rows][tokens], as mask.keys
  HeadsView numbers() const;
  /// Float32 views; 16-bit elements are widened on the first call.
  HeadsView keys();
  HeadsView values();

 private:
  HeadsView widened(std::size_t place, std::vector<float>& room);

  BlockKind kind_;
  std::int64_t count_, piece_count_;
  BlockLayout layout_;
  std::vector<std::byte> bytes_;
  std::vector<float> wide_keys_, wide_values_;
};

}  // namespace locus::mpi
