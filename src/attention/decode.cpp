// SPDX-License-Identifier: Apache-2.0
// One query over many keys. Memory bandwidth is the limit, so keys and values are read once, in place, for all query
// heads that share them. The online softmax is that of tiles.cpp, over long blocks of keys.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <vector>

#include "attention/attend.h"
#include "attention/position_terms.h"

namespace locus {
namespace {

// Keys per block, chosen by measurement: few if the rows of a head are contiguous, so that keys and values are two
// steady streams; many if the heads of a token are contiguous, since every head then reads the same pages.
constexpr std::int64_t block_together = 32;
constexpr std::int64_t block_apart = 256;

/// The query heads of one key head, for one query.
class OneQuery {
 public:
  OneQuery(const Problem& problem, const Document& document, std::int64_t key_head, const AttendKernels& kernels)
      : p_(problem),
        s_(document),
        kernels_(kernels),
        key_head_(key_head),
        group_(problem.group()),
        dim_(problem.head_dim()),
        stride_(block_apart + kernels.key_panel),
        query_(group_ * dim_),
        scores_(group_ * stride_),
        output_(group_ * dim_),
        top_(static_cast<std::size_t>(group_), masked_score),
        rescale_(static_cast<std::size_t>(group_), 1.0f),
        total_(static_cast<std::size_t>(group_), 0.0) {
    std::fill_n(output_.data(), group_ * dim_, 0.0f);
    const AttentionCall& call = p_.call();
    const StoredRows from{.data = Problem::row(call.query, s_.batch, s_.first_query, key_head_ * group_),
                          .stride = call.query.head_stride,
                          .rows = group_,
                          .dim = dim_};
    kernels_.widen_rows(from, static_cast<float>(p_.scale() * log2_e), query_.data(), dim_);
    for (std::int64_t r = 0; r < group_; ++r) {
      bias_.emplace_back(p_, s_, head(r));
      if (call.sink_logits.empty()) continue;
      const double sink = static_cast<double>(call.sink_logits[static_cast<std::size_t>(head(r))]);
      top_[static_cast<std::size_t>(r)] = static_cast<float>(sink * log2_e);
      total_[static_cast<std::size_t>(r)] = sink > -HUGE_VAL ? 1.0 : 0.0;
    }
  }

  /// `next`: how many keys of this head are read after these.
  void attend_block(std::int64_t first, std::int64_t count, std::int64_t next) {
    const AttentionCall& call = p_.call();
    StoredRows keys = stored(call.key, first, count), values = stored(call.value, first, count);
    if (keys.stride == dim_ && values.stride == dim_) {
      keys.ahead = static_cast<const std::byte*>(values.data);
      if (next >= count) {
        values.ahead = static_cast<const std::byte*>(stored(call.key, first + count, count).data);
      }
    }
    kernels_.stored_scores(keys, query_.data(), dim_, group_, scores_.data(), stride_);
    const SoftmaxTile softmax{.shape = {.rows = group_, .columns = count},
                              .scores = scores_.data(),
                              .stride = stride_,
                              .top = top_.data(),
                              .total = total_.data(),
                              .rescale = rescale_.data()};
    if (call.soft_cap > 0) kernels_.cap(softmax, static_cast<float>(call.soft_cap * log2_e));
    for (std::int64_t r = 0; r < group_; ++r) {
      float* row = scores_.data() + r * stride_;
      const BiasTerm& bias = bias_[static_cast<std::size_t>(r)];
      if (bias.present()) bias.add({.first_query = 0, .rows = 1, .first_key = first, .columns = count}, row, stride_);
      for (std::int64_t c = 0; (s_.patchy || !s_.places_rise) && c < count; ++c) {
        if (!p_.sees(s_, head(r), 0, first + c)) row[c] = masked_score;
      }
    }
    kernels_.softmax(softmax);
    kernels_.stored_values(values, {scores_.data(), stride_, group_}, rescale_.data(), output_.data(), dim_);
  }

  void store() const {
    for (std::int64_t r = 0; r < group_; ++r) {
      const double total = total_[static_cast<std::size_t>(r)];
      const double top = static_cast<double>(top_[static_cast<std::size_t>(r)]);
      kernels_.store_row(output_.data() + r * dim_, total == 0 ? 0.0f : static_cast<float>(1 / total), dim_,
                         Problem::row(p_.call().output, s_.batch, s_.first_query, head(r)));
      if (float* lse = p_.log_sum_exp(s_.batch, head(r), s_.first_query)) {
        *lse = total == 0 ? masked_score : static_cast<float>((top + std::log2(total)) / log2_e);
      }
    }
  }

 private:
  std::int64_t head(std::int64_t r) const { return key_head_ * group_ + r; }

  StoredRows stored(const HeadsView& view, std::int64_t first, std::int64_t count) const {
    return {.data = Problem::row(view, s_.batch, s_.first_key + first, key_head_),
            .stride = view.token_stride,
            .rows = count,
            .dim = dim_};
  }

  const Problem& p_;
  const Document& s_;
  const AttendKernels& kernels_;
  std::int64_t key_head_, group_, dim_, stride_;
  AlignedFloats query_, scores_, output_;
  std::vector<float> top_, rescale_;
  std::vector<double> total_;
  std::vector<BiasTerm> bias_;
};

/// Processes key heads [first_head, end_head) of a document; returns the number of blocks.
std::int64_t attend_heads(const Problem& problem, const Document& document, const AttendKernels& kernels,
                          std::int64_t first_head, std::int64_t end_head) {
  std::vector<OneQuery> heads;
  for (std::int64_t head = first_head; head < end_head; ++head) heads.emplace_back(problem, document, head, kernels);
  const VisibleRange range =
      document.places_rise ? problem.visible_range(document, 0) : VisibleRange{0, document.keys, 0};
  // Reads memory in order: head after head if the keys of a head are contiguous, else all heads of a block.
  const HeadsView& keys = problem.call().key;
  const bool apart = keys.token_stride > keys.head_dim;
  const std::int64_t block = apart ? block_apart : block_together;
  const std::size_t at_once = apart ? heads.size() : 1;
  std::int64_t blocks = 0;
  const auto walk = [&](std::span<OneQuery> some, std::int64_t begin, std::int64_t end) {
    for (std::int64_t key = begin; key < end; key += block) {
      const std::int64_t count = std::min(block, end - key);
      for (OneQuery& head : some) head.attend_block(key, count, end - key - count);
      blocks += static_cast<std::int64_t>(some.size());
    }
  };
  for (std::size_t head = 0; head < heads.size(); head += at_once) {
    const std::span<OneQuery> some = std::span(heads).subspan(head, at_once);
    walk(some, 0, range.sinks_end);
    walk(some, range.begin, range.end);
  }
  for (const OneQuery& head : heads) head.store();
  return blocks;
}

}  // namespace

bool is_decode(const Problem& problem) {
  const std::span<const Document> all = problem.documents();
  return problem.relative() == nullptr && problem.remapped() == nullptr &&
         std::all_of(all.begin(), all.end(), [](const Document& s) { return s.queries == 1; });
}

AttentionWork attend_one_query(const Problem& problem) {
  const AttentionCall& call = problem.call();
  const AttendKernels kernels = attend_kernels(call.query.type);
  const std::int64_t units = static_cast<std::int64_t>(problem.documents().size()) * call.key.heads;
  std::atomic<std::int64_t> computed = 0;
  for_ranges(call.executor, units, 1, [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      const Document& document = problem.documents()[static_cast<std::size_t>(begin / call.key.heads)];
      const std::int64_t first_head = begin % call.key.heads;
      const std::int64_t end_head = std::min(call.key.heads, first_head + end - begin);
      computed += attend_heads(problem, document, kernels, first_head, end_head);
      begin += end_head - first_head;
    }
  });
  return {computed, 0};
}

}  // namespace locus
