// SPDX-License-Identifier: Apache-2.0
// The backward pass. A block travels as in the forward pass; the gradients of its keys and values follow one round
// behind: a rank computes its share while the sum of the ranks before it arrives, adds the two and passes the sum on to the
// next rank that has the block, or home to its owner, whose own share has stayed there.
#include "locus/error.h"
#include "mpi/in_order.h"
#include "mpi/own_gradients.h"

namespace locus::mpi {
namespace {

class Backward : public Ring::Visitor {
 public:
  Backward(Ring& ring, const RingGradientCall& call, OwnGradients& own, RingWork& work)
      : ring_(ring), own_(own), work_(work) {
    const Schedule& schedule = ring.schedule();
    for (std::size_t round = 1; round < schedule.steps().size(); ++round) {
      if (schedule.travels(ring.rank(), round)) last_holder_ = ring.ahead(schedule.steps()[round]);
    }
    if (last_holder_ < 0) return;
    from_others_ = std::make_unique<GradientBlock>(ring.kind(), call.forward.key.tokens);
    ring.channel().receive(last_holder_, from_others_->bytes(), Message::homecoming);
  }

  void arrive(const Ring::Visit& at) override {
    share_ = std::make_unique<GradientBlock>(ring_.kind(), at.block.token_count());
    if (at.round <= 1) return;
    before_ = std::make_unique<GradientBlock>(ring_.kind(), at.block.token_count());
    const std::vector<int>& steps = ring_.schedule().steps();
    ring_.channel().receive(ring_.behind(steps[at.round] - steps[at.round - 1]), before_->bytes(), Message::gradient);
  }

  void visit(const Ring::Visit& at) override {
    ring_.for_pairs(at.block, at.owner, [&](const positions::Piece& queries, const positions::Piece& keys) {
      own_.add_pair(at, queries, keys, *share_);
    });
  }

  void leave(const Ring::Visit& at) override {
    if (at.round == 0) {
      home_ = std::move(share_);
      return;
    }
    if (at.round > 1) {
      before_->add(*share_);
      share_ = std::move(before_);
    }
    const std::vector<int>& steps = ring_.schedule().steps();
    if (ring_.schedule().travels(at.owner, at.round + 1)) {
      sent_ = std::move(share_);
      ring_.channel().send(ring_.ahead(steps[at.round + 1] - steps[at.round]), sent_->bytes(), Message::gradient);
    } else {
      // Its owner has been ready for it since the start, so the one before has left.
      work_.seconds_waiting += ring_.channel().wait(Message::home);
      sent_home_ = std::move(share_);
      ring_.channel().send(at.owner, sent_home_->bytes(), Message::home);
    }
  }

  /// The gradients of the own keys and values, when they are home.
  GradientBlock& home() {
    for (const Message kind : {Message::gradient, Message::home, Message::homecoming}) {
      work_.seconds_waiting += ring_.channel().wait(kind);
    }
    work_.bytes_sent = ring_.channel().bytes_sent();
    if (from_others_ != nullptr) home_->add(*from_others_);
    return *home_;
  }

 private:
  Ring& ring_;
  OwnGradients& own_;
  RingWork& work_;
  int last_holder_ = -1;  ///< of this rank's block; -1: it never leaves
  std::unique_ptr<GradientBlock> share_, before_, sent_, sent_home_, from_others_, home_;
};

void check_gradients(const RingGradientCall& call) {
  const RingCall& forward = call.forward;
  check_order(forward);
  require(forward.log_sum_exp != nullptr || forward.query.tokens == 0,
          "mpi: attend_backward: forward.log_sum_exp must be given, as attend() wrote it");
  const auto check = [](const char* what, const HeadsView& view, const HeadsView& like, ElementType type) {
    require(view.batch == like.batch && view.tokens == like.tokens && view.heads == like.heads &&
                view.head_dim == like.head_dim && view.type == type,
            "mpi: attend_backward: ", what, " must be ", like.batch, " x ", like.tokens, " x ", like.heads, " x ",
            like.head_dim, " of ", name_of(type), ", got ", view.batch, " x ", view.tokens, " x ", view.heads, " x ",
            view.head_dim, " of ", name_of(view.type));
    require(view.data != nullptr || view.batch * view.tokens * view.heads == 0, "mpi: attend_backward: ", what,
            " has no data");
  };
  check("output_gradient", call.output_gradient, forward.output, forward.output.type);
  check("query_gradient", call.query_gradient, forward.query, forward.query.type);
  check("key_gradient", call.key_gradient, forward.key, forward.key.type);
  check("value_gradient", call.value_gradient, forward.value, forward.value.type);
  const bool numbers = call.query_numbers_gradient.data != nullptr;
  require(numbers == (call.key_numbers_gradient.data != nullptr),
          "mpi: attend_backward: query_numbers_gradient and key_numbers_gradient must be given together");
  if (!numbers) return;
  check("query_numbers_gradient", call.query_numbers_gradient, forward.query_numbers, ElementType::float64);
  check("key_numbers_gradient", call.key_numbers_gradient, forward.key_numbers, ElementType::float64);
}

/// What attend_backward() refuses, asked about no tokens.
void check_whole(const RingGradientCall& call) {
  check_gradients(call);
  const RingCall& own = call.forward;
  AttentionGradientCall none{.forward = {.query = own.query,
                                         .key = own.key,
                                         .value = own.value,
                                         .output = own.output,
                                         .encoding = own.encoding,
                                         .query_numbers = own.query_numbers,
                                         .key_numbers = own.key_numbers,
                                         .soft_cap = own.soft_cap,
                                         .sink_logits = own.sink_logits},
                             .output_gradient = call.output_gradient,
                             .query_gradient = call.query_gradient,
                             .key_gradient = call.key_gradient,
                             .value_gradient = call.value_gradient,
                             .learned = call.learned};
  float no_row = 0;
  none.forward.log_sum_exp = &no_row;
  for (HeadsView* view : {&none.forward.query, &none.forward.key, &none.forward.value, &none.forward.output,
                          &none.forward.query_numbers, &none.forward.key_numbers, &none.output_gradient,
                          &none.query_gradient, &none.key_gradient, &none.value_gradient}) {
    view->tokens = 0;
  }
  locus::attend_backward(none);  // writes zeros to the learned gradients, which are written anyway
}

}  // namespace

RingWork attend_backward(const RingGradientCall& call) {
  // Ranks must ask for the same learned gradients, and must not mix up the two passes.
  std::int64_t asked = 1;
  for (const LearnedMember member : learned_members) asked = 2 * asked + ((call.learned.*member).empty() ? 0 : 1);
  Ring ring(
      call.forward, [&] { check_whole(call); }, asked);
  RingWork work;
  OwnGradients own(ring, call, work);
  if (counts_gates(call.forward)) {
    GradientBlock home = backward_in_order(ring, own, work);
    own.store(home);
    return work;
  }
  Backward backward(ring, call, own, work);
  ring.travel(backward, work);
  own.store(backward.home());
  return work;
}

}  // namespace locus::mpi
