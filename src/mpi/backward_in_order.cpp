// SPDX-License-Identifier: Apache-2.0
// The backward pass of encodings that count gates. The count of a key is what it and the later keys count; the gradient of
// its gate is the sum of those of the counts of earlier keys. So there are two passes over the keys:
//   1. blocks travel around the ring, in any order, and every rank counts the gates of all keys that its queries see;
//   2. blocks are broadcast from the first key of each document to the last. A query then knows what the keys from here on
//      count, and the gradients of the counts so far. The gradients of a block go to its owner over a tree of the ranks that
//      see it, in an order that only depends on the ranks.
#include "mpi/gate_sums.h"
#include "mpi/in_order.h"
#include "mpi/own_gradients.h"

namespace locus::mpi {
namespace {

class GateCounting : public Ring::Visitor {
 public:
  GateCounting(Ring& ring, GateSums& counts) : ring_(ring), counts_(counts) {}

  void visit(const Ring::Visit& at) override {
    ring_.for_pairs(at.block, at.owner, [&](const positions::Piece& queries, const positions::Piece& keys) {
      PairCall pair(ring_.own(), queries, at.block, keys);
      pair.call.output = pair.call.query;  // of the right shape; it is not written
      counts_.lend(queries, [&](double* counts) {
        pair.shard.gate_counts = counts;
        count_gates_shard(pair.call, pair.shard);
      });
    });
  }

 private:
  Ring& ring_;
  GateSums& counts_;
};

/// Adds the shares of the ranks that see the block of `owner`, pairwise; the sum is left on the owner.
void sum_on_owner(Ring& ring, int owner, GradientBlock& share, RingWork& work) {
  std::vector<int> ranks = {owner};
  std::size_t own = 0;
  for (int step = 1; step < ring.ranks(); ++step) {
    const int rank = (owner + step) % ring.ranks();
    if (!ring.schedule().needed(rank, owner)) continue;
    if (rank == ring.rank()) own = ranks.size();
    ranks.push_back(rank);
  }
  if (ranks[own] != ring.rank()) return;
  for (std::size_t step = 1; step < ranks.size(); step *= 2) {
    if (own % (2 * step) != 0) {
      ring.channel().send(ranks[own - step], share.bytes(), Message::gradient);
      work.seconds_waiting += ring.channel().wait(Message::gradient);
      return;
    }
    if (own + step >= ranks.size()) continue;
    GradientBlock other = share;  // of the same shape
    ring.channel().receive(ranks[own + step], other.bytes(), Message::gradient);
    work.seconds_waiting += ring.channel().wait(Message::gradient);
    share.add(other);
  }
}

}  // namespace

GradientBlock backward_in_order(Ring& ring, OwnGradients& own, RingWork& work) {
  const RingCall& call = ring.own().call;
  GateSums counts(call.query), count_gradients(call.query);
  GateCounting counting(ring, counts);
  ring.travel(counting, work);

  GradientBlock home(ring.kind(), call.key.tokens);
  std::unique_ptr<GradientBlock> share;
  const auto pair = [&](const Ring::Visit& at, const positions::Piece& queries, const positions::Piece& keys) {
    counts.lend(queries, [&](double* left) {
      count_gradients.lend(queries, [&](double* before) {
        own.add_pair(at, queries, keys, *share, {.gate_counts = left, .count_gradients = before});
      });
    });
  };
  visit_in_order(
      ring, work, KeyOrder::first_to_last,
      {.arrive =
           [&](const Ring::Visit& at) { share = std::make_unique<GradientBlock>(ring.kind(), at.block.token_count()); },
       .pair = pair,
       .leave =
           [&](const Ring::Visit& at) {
             sum_on_owner(ring, at.owner, *share, work);
             if (at.owner == ring.rank()) home.add(*share);
           }});
  work.bytes_sent = ring.channel().bytes_sent();
  return home;
}

}  // namespace locus::mpi
