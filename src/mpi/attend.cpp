// SPDX-License-Identifier: Apache-2.0
// The forward pass.
#include <algorithm>

#include "locus/attention_shard.h"
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
        counts_(counts_gates(call_) ? merged_.log_sum_exp().size() : 0, 0.0) {}

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
    if (!counts_.empty()) pair.shard.gate_counts = load_counts(queries);
    const AttentionWork tiles = attend_shard(pair.call, pair.shard);
    if (!counts_.empty()) store_counts(queries);
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
  /// The counts of a piece of queries, [batch, heads, its tokens].
  double* load_counts(const positions::Piece& queries) {
    piece_counts_.clear();
    for (std::size_t row = 0; row * tokens() < counts_.size(); ++row) {
      const auto from = counts_.begin() + static_cast<std::ptrdiff_t>(row * tokens()) + queries.first;
      piece_counts_.insert(piece_counts_.end(), from, from + queries.tokens);
    }
    return piece_counts_.data();
  }
  void store_counts(const positions::Piece& queries) {
    for (std::size_t row = 0; row * tokens() < counts_.size(); ++row) {
      std::copy_n(piece_counts_.begin() + static_cast<std::ptrdiff_t>(row) * queries.tokens, queries.tokens,
                  counts_.begin() + static_cast<std::ptrdiff_t>(row * tokens()) + queries.first);
    }
  }
  std::size_t tokens() const { return static_cast<std::size_t>(call_.query.tokens); }

  Ring& ring_;
  const RingCall& call_;
  RingWork& work_;
  RunningMerge merged_;
  std::vector<double> counts_;  ///< gates counted so far, [batch, heads, tokens]; empty if none count
  std::vector<float> part_, part_lse_;
  std::vector<double> piece_counts_;
};

}  // namespace

RingWork attend(const RingCall& call) {
  Ring ring(call, [&] { check_order(call); });
  RingWork work;
  Forward forward(ring, work);
  if (counts_gates(call)) {
    visit_in_order(ring, work,
                   [&](const Ring::Visit& at, const positions::Piece& queries, const positions::Piece& keys) {
                     forward.attend_pair(at, queries, keys);
                   });
  } else {
    ring.travel(forward, work);
  }
  forward.store();
  return work;
}

}  // namespace locus::mpi
