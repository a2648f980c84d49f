// SPDX-License-Identifier: Apache-2.0
// Encodings that count gates from the last key to the first (cope) need the pieces of a document in that order, the same
// on every rank: blocks are broadcast instead of travelling around the ring.
#pragma once

#include <functional>

#include "mpi/ring.h"

namespace locus::mpi {

bool counts_gates(const RingCall& call);
/// Error: a call that counts gates over pieces that interleave or that are too many to be told to every rank.
void check_order(const RingCall& call);

/// Calls `pair` for every piece of own queries and every piece of keys that it may see, from the last key of each document
/// to the first, while the next block is on its way.
/// Cost: every rank receives the block of every rank, usually twice (zigzag) or once (contiguous).
void visit_in_order(Ring& ring, RingWork& work,
                    const std::function<void(const Ring::Visit& at, const positions::Piece& queries,
                                             const positions::Piece& keys)>& pair);

}  // namespace locus::mpi
