// SPDX-License-Identifier: Apache-2.0
// Encodings that count gates (cope) need the pieces of a document from the last key to the first, backward from the first to
// the last, the same on every rank: blocks are broadcast instead of travelling around the ring.
#pragma once

#include <functional>

#include "mpi/ring.h"

namespace locus::mpi {

bool counts_gates(const RingCall& call);
/// Error: a call that counts gates over pieces that interleave or that are too many to be told to every rank.
void check_order(const RingCall& call);

enum class KeyOrder : std::uint8_t { first_to_last, last_to_first };

/// What is done with the blocks.
struct InOrder {
  std::function<void(const Ring::Visit& at)> arrive = nullptr;
  /// For every piece of own queries and every piece of keys that it may see, in the order of the keys of each document.
  std::function<void(const Ring::Visit& at, const positions::Piece& queries, const positions::Piece& keys)> pair;
  /// When the next block has arrived.
  std::function<void(const Ring::Visit& at)> leave = nullptr;
};

/// Every rank gets the blocks of all ranks, one after another, while the next one is on its way.
/// Cost: every rank receives the block of every rank, usually twice (zigzag) or once (contiguous).
void visit_in_order(Ring& ring, RingWork& work, KeyOrder order, const InOrder& visitor);

}  // namespace locus::mpi
