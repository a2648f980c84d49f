// SPDX-License-Identifier: Apache-2.0
#include "mpi/ring.h"

#include <ctime>

#include "locus/error.h"

namespace locus::mpi {
namespace {

std::string first_error(const RingCall& call, const Channel& channel, const std::function<void()>& further_checks) {
  std::string message = local_error(call, channel);
  if (!message.empty() || further_checks == nullptr) return message;
  try {
    further_checks();
  } catch (const Error& error) {
    message = error.what();
  }
  return message;
}

}  // namespace

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Ring::Ring(const RingCall& call, const std::function<void()>& further_checks, std::int64_t gradients)
    : channel_(call.communicator, call.seconds_to_wait), call_(call) {
  const Agreement agreement = agree(channel_, call, gradients, first_error(call, channel_, further_checks));
  kind_ = block_kind(call, agreement.masked_rows);
  schedule_ = std::make_unique<Schedule>(channel_, call);
  const std::int64_t all = schedule_->all_tokens(), columns = agreement.pair_columns;
  require(columns == 0 || columns == all || columns == call.query.batch * all, "mpi: mask.pairs must have ", all,
          " columns, one per token of the packed row, or that many per batch row, got ", columns);
  HeadsView query = call.query;
  if (query.type != ElementType::float32) {
    wide_queries_.resize(static_cast<std::size_t>(query.batch * query.tokens * query.heads * query.head_dim));
    widen_tokens(query, wide_queries_.data());
    query = contiguous_view(wide_queries_.data(), ElementType::float32, query.batch, query.tokens, query.heads,
                            query.head_dim);
  }
  polling_ = std::make_unique<PollingExecutor>(channel_, call.executor);
  own_ = std::make_unique<OwnQueries>(OwnQueries{.call = call,
                                                 .query = query,
                                                 .ids = call.ids.empty() ? std::span(call.shard->ids.ids) : call.ids,
                                                 .all_tokens = all,
                                                 .executor = polling_.get()});
}

void Ring::travel(Visitor& visitor, RingWork& work) {
  const std::vector<int>& steps = schedule_->steps();
  auto current = std::make_unique<Block>(kind_, call_);
  std::unique_ptr<Block> next;
  for (std::size_t round = 0; round < steps.size(); ++round) {
    const int owner = behind(steps[round]);
    next.reset();
    if (round + 1 < steps.size()) {
      const int hop = steps[round + 1] - steps[round], coming = behind(steps[round + 1]);
      if (current != nullptr && schedule_->travels(owner, round + 1)) {
        channel_.send(ahead(hop), current->bytes(), Message::block);
      }
      if (schedule_->travels(coming, round + 1)) {
        const Schedule::Size& size = schedule_->size_of(coming);
        next = std::make_unique<Block>(kind_, size.tokens, size.pieces);
        channel_.receive(behind(hop), next->bytes(), Message::block);
      }
    }
    if (current != nullptr) visitor.arrive({*current, owner, round});
    if (current != nullptr && (round == 0 || schedule_->needed(rank(), owner))) {
      if (round > 0) work.bytes_needed += static_cast<std::int64_t>(current->bytes().size());
      const double begin = thread_seconds();
      visitor.visit({*current, owner, round});
      work.seconds_working += thread_seconds() - begin;
    }
    work.seconds_waiting += channel_.wait(Message::block) + channel_.wait(Message::gradient);
    if (current != nullptr) visitor.leave({*current, owner, round});
    current = std::move(next);
  }
  const std::int64_t rounds = static_cast<std::int64_t>(steps.size()) - 1;
  work.rounds += rounds;
  work.rounds_skipped += ranks() - 1 - rounds;
  work.bytes_sent = channel_.bytes_sent();
}

void Ring::for_pairs(Block& block, int owner,
                     const std::function<void(const positions::Piece& queries, const positions::Piece& keys)>& pair) {
  for (const positions::Piece& keys : block.pieces()) {
    for_queries(block, owner, keys, [&](const positions::Piece& queries) { pair(queries, keys); });
  }
}

void Ring::for_queries(Block& block, int owner, const positions::Piece& keys,
                       const std::function<void(const positions::Piece& queries)>& visit) {
  const PieceSpan seen = span_of(keys, block.ids());
  for (const positions::Piece& queries : pieces_of(call_.shard->pieces, keys.document)) {
    const bool same = owner == rank() && keys == queries;
    if (same || may_see(call_.mask, span_of(queries, own_->ids), seen)) visit(queries);
    channel_.poll();
  }
}

}  // namespace locus::mpi
