// SPDX-License-Identifier: Apache-2.0
#include "mpi/in_order.h"

#include <algorithm>
#include <map>

#include "locus/error.h"

namespace locus::mpi {
namespace {

/// A piece of a rank.
struct OwnedPiece {
  int owner = 0;
  Position place = 0;
};

/// A block, and the first place of each document that is due: pieces from there on are visited now.
struct Turn {
  int owner = 0;
  std::map<std::int64_t, std::vector<Position>> due;  ///< places by document, in order
};

/// The turns: each takes the block of one rank and every piece of it that is next in its document.
std::vector<Turn> turns_of(const Schedule& schedule, int ranks, KeyOrder order) {
  std::map<std::int64_t, std::vector<OwnedPiece>> left;  // by document, the last piece at the end
  for (int rank = 0; rank < ranks; ++rank) {
    for (const PieceSpan& span : schedule.spans_of(rank))
      left[span.first_document].push_back({rank, span.places.first});
  }
  for (auto& [document, pieces] : left) {
    std::sort(pieces.begin(), pieces.end(), [](const OwnedPiece& a, const OwnedPiece& b) { return a.place < b.place; });
  }
  std::vector<Turn> turns;
  while (!left.empty()) {
    Turn turn{left.begin()->second.back().owner, {}};
    for (auto at = left.begin(); at != left.end();) {
      std::vector<OwnedPiece>& pieces = at->second;
      while (!pieces.empty() && pieces.back().owner == turn.owner) {
        turn.due[at->first].push_back(pieces.back().place);
        pieces.pop_back();
      }
      at = pieces.empty() ? left.erase(at) : std::next(at);
    }
    turns.push_back(std::move(turn));
  }
  if (order == KeyOrder::last_to_first) return turns;
  std::reverse(turns.begin(), turns.end());
  for (Turn& turn : turns) {
    for (auto& [document, places] : turn.due) std::reverse(places.begin(), places.end());
  }
  return turns;
}

}  // namespace

bool counts_gates(const RingCall& call) {
  const auto* keys = call.encoding == nullptr ? nullptr : std::get_if<RelativeKeys>(&call.encoding->term());
  return keys != nullptr && keys->counted;
}

void check_order(const RingCall& call) {
  if (!counts_gates(call)) return;
  require(pieces_per_span(call.shard->pieces.size()) <= 1, "mpi: ", call.encoding->scheme().name,
          " counts keys in order, so a rank must have at most 64 pieces, got ", call.shard->pieces.size());
  for (const positions::Piece& piece : call.shard->pieces) {
    require(piece.step == 1, "mpi: ", call.encoding->scheme().name,
            " counts keys in order, so shards must be contiguous or zigzag, not striped");
  }
}

void visit_in_order(Ring& ring, RingWork& work, KeyOrder order, const InOrder& visitor) {
  const RingCall& call = ring.own().call;
  const std::vector<Turn> turns = turns_of(ring.schedule(), ring.ranks(), order);
  const auto start = [&](std::size_t turn) -> std::unique_ptr<Block> {
    if (turn >= turns.size()) return nullptr;
    const int owner = turns[turn].owner;
    const Schedule::Size& size = ring.schedule().size_of(owner);
    auto block = owner == ring.rank() ? std::make_unique<Block>(ring.kind(), call)
                                      : std::make_unique<Block>(ring.kind(), size.tokens, size.pieces);
    ring.channel().broadcast(owner, block->bytes());
    return block;
  };
  std::unique_ptr<Block> current = start(0);
  work.seconds_waiting += ring.channel().wait(Message::block);
  for (std::size_t turn = 0; turn < turns.size(); ++turn) {
    std::unique_ptr<Block> next = start(turn + 1);
    const Ring::Visit at{*current, turns[turn].owner, turn};
    if (at.owner != ring.rank()) work.bytes_needed += static_cast<std::int64_t>(current->bytes().size());
    if (visitor.arrive) visitor.arrive(at);
    const double begin = thread_seconds();
    for (const auto& [document, places] : turns[turn].due) {
      for (const Position place : places) {
        for (const positions::Piece& keys : pieces_of(current->pieces(), document)) {
          if (keys.place != place) continue;
          ring.for_queries(*current, at.owner, keys,
                           [&](const positions::Piece& queries) { visitor.pair(at, queries, keys); });
        }
      }
    }
    work.seconds_working += thread_seconds() - begin;
    work.seconds_waiting += ring.channel().wait(Message::block);
    if (visitor.leave) visitor.leave(at);
    current = std::move(next);
  }
  work.rounds += static_cast<std::int64_t>(turns.size());
  work.bytes_sent = ring.channel().bytes_sent();
}

}  // namespace locus::mpi
