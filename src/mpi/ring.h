// SPDX-License-Identifier: Apache-2.0
// What both passes of ring attention share: the checked call, the own side of every pair, and the blocks on their way.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "mpi/agreement.h"
#include "mpi/block.h"
#include "mpi/pair.h"
#include "mpi/polling.h"
#include "mpi/schedule.h"

namespace locus::mpi {

/// Processor time of the calling thread.
double thread_seconds();

/// A call that every rank has agreed to.
class Ring {
 public:
  /// Collective; every rank refuses if one does, also by `further_checks`. `gradients` says which ones are asked for.
  explicit Ring(const RingCall& call, const std::function<void()>& further_checks, std::int64_t gradients = 0);

  Channel& channel() { return channel_; }
  const Schedule& schedule() const { return *schedule_; }
  const OwnQueries& own() const { return *own_; }
  const BlockKind& kind() const { return kind_; }
  int rank() const { return channel_.rank(); }
  /// The rank that is `step` places behind (before) this one.
  int behind(int step) const { return (rank() - step % ranks() + ranks()) % ranks(); }
  int ahead(int step) const { return (rank() + step) % ranks(); }
  int ranks() const { return channel_.ranks(); }

  /// A block that this rank has in a round.
  struct Visit {
    Block& block;
    int owner;          ///< the rank whose block it is
    std::size_t round;  ///< entry of schedule().steps()
  };
  class Visitor {
   public:
    virtual ~Visitor() = default;
    /// For every block that comes by; transfers of gradients start here.
    virtual void arrive(const Visit&) {}
    /// For the blocks that this rank needs, while the next block is on its way.
    virtual void visit(const Visit& at) = 0;
    /// For every block, when all transfers of the round are done.
    virtual void leave(const Visit&) {}
  };
  /// Lets blocks travel, in the order of the rounds.
  void travel(Visitor& visitor, RingWork& work);

  /// Calls `pair` for every piece of own queries and every piece of the block that it may see. A query's own piece is
  /// always visited.
  void for_pairs(Block& block, int owner,
                 const std::function<void(const positions::Piece& queries, const positions::Piece& keys)>& pair);
  /// The same for one piece of the block.
  void for_queries(Block& block, int owner, const positions::Piece& keys,
                   const std::function<void(const positions::Piece& queries)>& visit);

 private:
  Channel channel_;
  const RingCall& call_;
  BlockKind kind_;
  std::unique_ptr<Schedule> schedule_;
  std::vector<float> wide_queries_;
  std::unique_ptr<PollingExecutor> polling_;
  std::unique_ptr<OwnQueries> own_;
};

}  // namespace locus::mpi
