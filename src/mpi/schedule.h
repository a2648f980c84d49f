// SPDX-License-Identifier: Apache-2.0
// Which blocks a rank needs, and the rounds in which they travel.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/block.h"
#include "mpi/channel.h"

namespace locus::mpi {

struct Range {
  Position first = 0, last = 0;
};

/// A piece, or the hull of several.
struct PieceSpan {
  std::int64_t first_document = 0, last_document = 0;
  Range places, ids;
};
/// How many consecutive pieces of a rank form one span.
std::size_t pieces_per_span(std::size_t pieces);
PieceSpan span_of(const positions::Piece& piece, std::span<const Position> ids);

/// Whether a query of one span may see a key of the other, by documents, ids and places. Never false if one does.
bool may_see(const Mask& mask, const PieceSpan& queries, const PieceSpan& keys);

/// Every rank needs the block of every rank, or not: needed(r, b) is the same on all ranks.
class Schedule {
 public:
  /// Collective. Error: two ranks that hold the same token.
  Schedule(Channel& channel, const RingCall& call);

  struct Size {
    std::int64_t tokens = 0, pieces = 0;
    std::int64_t real = 0;  ///< tokens that are no padding
  };
  const Size& size_of(int rank) const { return sizes_[static_cast<std::size_t>(rank)]; }
  /// The pieces of a rank, or hulls of them if there are more than 64.
  const std::vector<PieceSpan>& spans_of(int rank) const { return spans_[static_cast<std::size_t>(rank)]; }
  /// Of all ranks, without padding.
  std::int64_t all_tokens() const { return all_tokens_; }
  bool needed(int rank, int block) const {
    return needed_[static_cast<std::size_t>(rank) * sizes_.size() + static_cast<std::size_t>(block)] != 0;
  }
  /// In step s, rank r has the block of rank r - s. The steps that some rank needs, 0 first, in rising order.
  const std::vector<int>& steps() const { return steps_; }
  /// Whether a block still travels at entry `from` of the steps: some rank needs it then or later.
  bool travels(int block, std::size_t from) const;

 private:
  std::vector<Size> sizes_;
  std::vector<std::vector<PieceSpan>> spans_;
  std::int64_t all_tokens_ = 0;
  std::vector<std::uint8_t> needed_;
  std::vector<int> steps_;
};

}  // namespace locus::mpi
