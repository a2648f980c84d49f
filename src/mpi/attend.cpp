// SPDX-License-Identifier: Apache-2.0
// The forward pass.
#include <algorithm>

#include "locus/attention_shard.h"
#include "mpi/gate_sums.h"
#include "mpi/in_order.h"
#include "mpi/ring.h"
#include "mpi/running_merge.h"

namespace locus::mpi {
namespace {

class Forward : public Ring::Visitor {
 public:
  Forward(Ring& ring, RingWork& work)
      : ring_(ring),
        call_(ring.own().call),
        work_(work),
        merged_(call_.query.batch, call_.query.tokens, call_.query.heads, call_.query.head_dim),
        counts_(call_.query) {}

  void visit(const Ring::Visit& at) override {
    ring_.for_pairs(at.block, at.owner, [&](const positions::Piece& queries, const positions::Piece& keys) {
      attend_pair(at, queries, keys);
    });
  }

  void attend_pair(const Ring::Visit& at, const positions::Piece& queries, const positions::Piece& keys) {
    const HeadsView& like = call_.query;
    PairCall pair(ring_.own(), queries, at.block, keys);
    part_.resize(static_cast<std::size_t>(like.batch * queries.tokens * like.heads * like.head_dim));
    part_lse_.resize(static_cast<std::size_t>(like.batch * like.heads * queries.tokens));
    pair.call.output =
        contiguous_view(part_.data(), ElementType::float32, like.batch, queries.tokens, like.heads, like.head_dim);
    pair.call.log_sum_exp = part_lse_.data();
    if (at.owner == ring_.rank() && keys == queries) pair.call.sink_logits = call_.sink_logits;  // once per query
    AttentionWork tiles;
    if (counts_gates(call_)) {
      counts_.lend(queries, [&](double* counts) {
        pair.shard.gate_counts = counts;
        tiles = attend_shard(pair.call, pair.shard);
      });
    } else {
      tiles = attend_shard(pair.call, pair.shard);
    }
    work_.tiles.computed += tiles.computed;
    work_.tiles.skipped += tiles.skipped;
    merged_.add(queries.first, pair.call.output, part_lse_.data());
  }

  void store() {
    merged_.finish();
    store_tokens(merged_.output().data(), call_.output);
    const std::vector<float>& lse = merged_.log_sum_exp();
    if (call_.log_sum_exp != nullptr) std::copy(lse.begin(), lse.end(), call_.log_sum_exp);
  }

 private:
  Ring& ring_;
  const RingCall& call_;
  RingWork& work_;
  RunningMerge merged_;
  GateSums counts_;  ///< gates counted so far
  std::vector<float> part_, part_lse_;
};

}  // namespace

RingWork attend(const RingCall& call) {
  Ring ring(call, [&] { check_order(call); });
  RingWork work;
  Forward forward(ring, work);
  if (counts_gates(call)) {
    visit_in_order(ring, work, KeyOrder::last_to_first,
                   {.pair = [&](const Ring::Visit& at, const positions::Piece& queries, const positions::Piece& keys) {
                     forward.attend_pair(at, queries, keys);
                   }});
  } else {
    ring.travel(forward, work);
  }
  forward.store();
  return work;
}

}  // namespace locus::mpi
