// SPDX-License-Identifier: Apache-2.0
// The backward pass. A block travels as in the forward pass; the gradients of its keys and values follow one round
// behind: a rank computes its share while the sum of the ranks before it arrives, adds the two and passes the sum on to the
// next rank that has the block, or home to its owner.
#include <algorithm>
#include <cstring>

#include "locus/attention_shard.h"
#include "locus/error.h"
#include "mpi/in_order.h"
#include "mpi/ring.h"

namespace locus::mpi {
namespace {

using Member = std::span<double> LearnedGradients::*;
constexpr Member learned_members[] = {
    &LearnedGradients::sink_logits,
    &LearnedGradients::bias_table,
    &LearnedGradients::bias_parameters,
    &LearnedGradients::bias_network,
    &LearnedGradients::key_table,
    &LearnedGradients::query_table,
    &LearnedGradients::column_table,
    &LearnedGradients::value_table,
    &LearnedGradients::u,
    &LearnedGradients::v,
    &LearnedGradients::w_r,
};

/// The gradients of the keys and values of a block, and of the numbers of its tokens, in one message.
class GradientBlock {
 public:
  GradientBlock(const BlockKind& kind, std::int64_t tokens)
      : kind_(kind),
        tokens_(tokens),
        numbers_(static_cast<std::size_t>(kind.batch * tokens * kind.number_heads * kind.numbers)),
        rows_(static_cast<std::size_t>(kind.batch * tokens * kind.heads * kind.head_dim)),
        bytes_(numbers_ * sizeof(double) + 2 * rows_ * sizeof(float)) {}

  std::span<std::byte> bytes() { return bytes_; }
  HeadsView numbers() {
    if (numbers_ == 0) return {};
    return contiguous_view(bytes_.data(), ElementType::float64, kind_.batch, tokens_, kind_.number_heads,
                           kind_.numbers);
  }
  HeadsView keys() { return rows(0); }
  HeadsView values() { return rows(1); }

  void add(const GradientBlock& other) {
    const auto sum = [](auto* to, const auto* from, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
    };
    const std::size_t after = numbers_ * sizeof(double);
    sum(reinterpret_cast<double*>(bytes_.data()), reinterpret_cast<const double*>(other.bytes_.data()), numbers_);
    sum(reinterpret_cast<float*>(bytes_.data() + after), reinterpret_cast<const float*>(other.bytes_.data() + after),
        2 * rows_);
  }

 private:
  HeadsView rows(std::size_t which) {
    return contiguous_view(bytes_.data() + numbers_ * sizeof(double) + which * rows_ * sizeof(float),
                           ElementType::float32, kind_.batch, tokens_, kind_.heads, kind_.head_dim);
  }
  BlockKind kind_;
  std::int64_t tokens_;
  std::size_t numbers_, rows_;
  std::vector<std::byte> bytes_;
};

/// Contiguous memory for a part of a tensor, and adding it to the whole.
template <class T>
struct Part {
  std::vector<T> data;
  HeadsView view;

  void shape(const HeadsView& like, std::int64_t tokens, ElementType type) {
    data.resize(static_cast<std::size_t>(like.batch * tokens * like.heads * like.head_dim));
    view = contiguous_view(data.data(), type, like.batch, tokens, like.heads, like.head_dim);
  }
  /// `whole` is contiguous by rows of heads.
  void add_to(const HeadsView& whole, std::int64_t first) const {
    const std::int64_t row = view.heads * view.head_dim;
    for (std::int64_t batch = 0; batch < view.batch; ++batch) {
      T* to = static_cast<T*>(whole.data) + batch * whole.batch_stride + first * whole.token_stride;
      const T* from = data.data() + batch * view.tokens * row;
      for (std::int64_t i = 0; i < view.tokens * row; ++i) to[i] += from[i];
    }
  }
};

class Backward : public Ring::Visitor {
 public:
  Backward(Ring& ring, const RingGradientCall& call, RingWork& work)
      : ring_(ring), call_(call), work_(work), query_sum_(widened_like(call.forward.query)) {
    output_ = widened(call.forward.output, wide_output_);
    output_gradient_ = widened(call.output_gradient, wide_gradient_);
    if (call.query_numbers_gradient.data != nullptr)
      numbers_sum_.assign(size_of_view(call.query_numbers_gradient), 0.0);
    for (const Member member : learned_members) learned_sums_.emplace_back((call.learned.*member).size(), 0.0);
    const Schedule& schedule = ring.schedule();
    for (std::size_t round = 1; round < schedule.steps().size(); ++round) {
      if (schedule.travels(ring.rank(), round)) last_holder_ = ring.ahead(schedule.steps()[round]);
    }
    if (last_holder_ < 0) return;
    home_ = std::make_unique<GradientBlock>(ring.kind(), call.forward.key.tokens);
    ring.channel().receive(last_holder_, home_->bytes(), Message::homecoming);
  }

  void arrive(const Ring::Visit& at) override {
    share_ = std::make_unique<GradientBlock>(ring_.kind(), at.block.token_count());
    if (at.round == 0) return;
    before_ = std::make_unique<GradientBlock>(ring_.kind(), at.block.token_count());
    const std::vector<int>& steps = ring_.schedule().steps();
    ring_.channel().receive(ring_.behind(steps[at.round] - steps[at.round - 1]), before_->bytes(), Message::gradient);
  }

  void visit(const Ring::Visit& at) override {
    ring_.for_pairs(at.block, at.owner, [&](const positions::Piece& queries, const positions::Piece& keys) {
      run_pair(at, queries, keys);
    });
  }

  void leave(const Ring::Visit& at) override {
    if (at.round > 0) {
      before_->add(*share_);
      share_ = std::move(before_);
    }
    const std::vector<int>& steps = ring_.schedule().steps();
    if (ring_.schedule().travels(at.owner, at.round + 1)) {
      sent_ = std::move(share_);
      ring_.channel().send(ring_.ahead(steps[at.round + 1] - steps[at.round]), sent_->bytes(), Message::gradient);
    } else if (at.owner == ring_.rank()) {
      home_ = std::move(share_);
    } else {
      // Its owner has been ready for it since the start, so the one before has left.
      work_.seconds_waiting += ring_.channel().wait(Message::home);
      sent_home_ = std::move(share_);
      ring_.channel().send(at.owner, sent_home_->bytes(), Message::home);
    }
  }

  void store() {
    for (const Message kind : {Message::gradient, Message::home, Message::homecoming}) {
      work_.seconds_waiting += ring_.channel().wait(kind);
    }
    work_.bytes_sent = ring_.channel().bytes_sent();
    store_tokens(query_sum_.data(), call_.query_gradient);
    store_tokens(static_cast<const float*>(home_->keys().data), call_.key_gradient);
    store_tokens(static_cast<const float*>(home_->values().data), call_.value_gradient);
    if (!numbers_sum_.empty()) store_doubles(numbers_sum_.data(), call_.query_numbers_gradient);
    if (call_.key_numbers_gradient.data != nullptr) {
      store_doubles(static_cast<const double*>(home_->numbers().data), call_.key_numbers_gradient);
    }
    for (std::size_t i = 0; i < std::size(learned_members); ++i) {
      sum_over_ranks(learned_sums_[i]);
      std::copy(learned_sums_[i].begin(), learned_sums_[i].end(), (call_.learned.*learned_members[i]).begin());
    }
  }

 private:
  static std::size_t size_of_view(const HeadsView& view) {
    return static_cast<std::size_t>(view.batch * view.tokens * view.heads * view.head_dim);
  }
  static std::vector<float> widened_like(const HeadsView& view) { return std::vector<float>(size_of_view(view), 0.0f); }
  static HeadsView widened(const HeadsView& view, std::vector<float>& room) {
    room.resize(size_of_view(view));
    widen_tokens(view, room.data());
    return contiguous_view(room.data(), ElementType::float32, view.batch, view.tokens, view.heads, view.head_dim);
  }
  static void store_doubles(const double* from, const HeadsView& to) {
    for (std::int64_t batch = 0; batch < to.batch; ++batch) {
      for (std::int64_t token = 0; token < to.tokens; ++token) {
        for (std::int64_t head = 0; head < to.heads; ++head, from += to.head_dim) {
          std::copy_n(from, to.head_dim,
                      static_cast<double*>(to.data) + batch * to.batch_stride + token * to.token_stride +
                          head * to.head_stride);
        }
      }
    }
  }

  void run_pair(const Ring::Visit& at, const positions::Piece& queries, const positions::Piece& keys) {
    const RingCall& whole = call_.forward;
    const bool first = at.owner == ring_.rank() && keys == queries;
    PairCall pair(ring_.own(), queries, at.block, keys);
    pair.call.output = part_of(output_, queries.first, queries.tokens);
    lse_.clear();
    for (std::int64_t row = 0; row < whole.query.batch * whole.query.heads; ++row) {
      const float* from = whole.log_sum_exp + row * whole.query.tokens + queries.first;
      lse_.insert(lse_.end(), from, from + queries.tokens);
    }
    pair.call.log_sum_exp = lse_.data();
    if (first) pair.call.sink_logits = whole.sink_logits;

    AttentionGradientCall gradients{.forward = pair.call,
                                    .output_gradient = part_of(output_gradient_, queries.first, queries.tokens),
                                    .query_gradient = {},
                                    .key_gradient = {},
                                    .value_gradient = {}};
    query_part_.shape(whole.query, queries.tokens, ElementType::float32);
    key_part_.shape(whole.key, keys.tokens, ElementType::float32);
    value_part_.shape(whole.key, keys.tokens, ElementType::float32);
    gradients.query_gradient = query_part_.view;
    gradients.key_gradient = key_part_.view;
    gradients.value_gradient = value_part_.view;
    if (!numbers_sum_.empty()) {
      query_numbers_part_.shape(whole.query_numbers, queries.tokens, ElementType::float64);
      key_numbers_part_.shape(whole.query_numbers, keys.tokens, ElementType::float64);
      gradients.query_numbers_gradient = query_numbers_part_.view;
      gradients.key_numbers_gradient = key_numbers_part_.view;
    }
    learned_part_.resize(learned_sums_.size());
    for (std::size_t i = 0; i < learned_sums_.size(); ++i) {
      const bool sinks = learned_members[i] == &LearnedGradients::sink_logits;
      learned_part_[i].resize(sinks && !first ? 0 : learned_sums_[i].size());
      gradients.learned.*learned_members[i] = learned_part_[i];
    }
    work_.tiles.computed += attend_backward_shard(gradients, pair.shard).computed;

    const HeadsView& like = whole.query;
    query_part_.add_to(
        contiguous_view(query_sum_.data(), ElementType::float32, like.batch, like.tokens, like.heads, like.head_dim),
        queries.first);
    key_part_.add_to(share_->keys(), keys.first);
    value_part_.add_to(share_->values(), keys.first);
    if (!numbers_sum_.empty()) {
      const HeadsView& n = call_.query_numbers_gradient;
      query_numbers_part_.add_to(
          contiguous_view(numbers_sum_.data(), ElementType::float64, n.batch, n.tokens, n.heads, n.head_dim),
          queries.first);
      key_numbers_part_.add_to(share_->numbers(), keys.first);
    }
    for (std::size_t i = 0; i < learned_sums_.size(); ++i) {
      for (std::size_t j = 0; j < learned_part_[i].size(); ++j) learned_sums_[i][j] += learned_part_[i][j];
    }
  }

  // In the order of ranks, so that every rank has the same bits; in parts, so that memory does not grow with the ranks.
  void sum_over_ranks(std::vector<double>& sums) {
    constexpr std::size_t most = 4096;
    for (std::size_t first = 0; first < sums.size(); first += most) {
      const std::span<double> part = std::span(sums).subspan(first, std::min(most, sums.size() - first));
      const std::vector<std::byte> all = ring_.channel().gather(std::as_bytes(part));
      std::vector<double> of_rank(part.size());
      std::fill(part.begin(), part.end(), 0.0);
      for (std::size_t rank = 0; rank < static_cast<std::size_t>(ring_.ranks()); ++rank) {
        std::memcpy(of_rank.data(), all.data() + rank * part.size_bytes(), part.size_bytes());
        for (std::size_t i = 0; i < part.size(); ++i) part[i] += of_rank[i];
      }
    }
  }

  Ring& ring_;
  const RingGradientCall& call_;
  RingWork& work_;
  std::vector<float> wide_output_, wide_gradient_;
  HeadsView output_, output_gradient_;
  std::vector<float> query_sum_;
  std::vector<double> numbers_sum_;
  std::vector<std::vector<double>> learned_sums_, learned_part_;
  int last_holder_ = -1;  ///< of this rank's block; -1: it never leaves
  std::unique_ptr<GradientBlock> share_, before_, sent_, sent_home_, home_;
  Part<float> query_part_, key_part_, value_part_;
  Part<double> query_numbers_part_, key_numbers_part_;
  std::vector<float> lse_;
};

void check_gradients(const RingGradientCall& call) {
  const RingCall& forward = call.forward;
  require(!counts_gates(forward),
          "mpi: attend_backward: ", forward.encoding == nullptr ? std::string_view() : forward.encoding->scheme().name,
          " chooses rows by counting, which has no backward pass over ranks yet");
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
  for (const Member member : learned_members) asked = 2 * asked + ((call.learned.*member).empty() ? 0 : 1);
  Ring ring(
      call.forward, [&] { check_whole(call); }, asked);
  RingWork work;
  Backward backward(ring, call, work);
  ring.travel(backward, work);
  backward.store();
  return work;
}

}  // namespace locus::mpi
