// SPDX-License-Identifier: Apache-2.0
// The keys of a sequence are cut into portions by index. A unit of work is one portion and one key head, for all sequences
// of the batch whose portion holds the same tokens (a shared prefix): it reads each block of keys and values once, and
// every sequence uses the block while it is in the L1 cache. Each portion gives a partial result (largest score, sum of
// weights, weighted sum); the partial results of a sequence are then merged in order.
//
// Portions and blocks begin at the same index in every sequence, and a key's score has the same bits wherever it is in a
// page. So the result depends neither on pages nor on sharing nor on threads.
#include "attention/paged.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>

#include "attention/attend.h"
#include "attention/page_blocks.h"
#include "attention/position_terms.h"
#include "attention/tile_shape.h"

namespace locus {
namespace {

struct Kernels {
  AttendKernels own;  // of the queries
  decltype(AttendKernels::stored_scores) scores;
  decltype(AttendKernels::stored_values) values;

  Kernels(ElementType type, bool integers)
      : own(attend_kernels(type)), scores(own.stored_scores), values(own.stored_values) {
    if (!integers) return;
    scores = integer_kernels().stored_scores;
    values = integer_kernels().stored_values;
  }
};

/// Tokens [first, first + count) of a span.
PageSpan part_of(PageSpan span, std::int64_t first, std::int64_t count, const PageLayout& layout, std::int64_t dim) {
  span.count = count;
  span.keys += first * dim * layout.element_size;
  span.values += first * dim * layout.element_size;
  if (layout.integers) span.key_scales += first, span.value_scales += first;
  span.turns = span.turns.from(first);
  return span;
}

/// The spans of each portion, in order.
std::vector<std::vector<PageSpan>> portions_of(std::span<const PageSpan> spans, const PageLayout& layout,
                                               std::int64_t dim) {
  std::vector<std::vector<PageSpan>> portions;
  std::int64_t room = 0;
  for (const PageSpan& span : spans) {
    for (std::int64_t used = 0; used < span.count;) {
      if (room == 0) portions.emplace_back(), room = portion_keys;
      const std::int64_t here = std::min(room, span.count - used);
      portions.back().push_back(part_of(span, used, here, layout, dim));
      used += here;
      room -= here;
    }
  }
  return portions;
}

/// The partial results of one sequence: [portions][query heads][queries].
struct Partials {
  std::int64_t portions = 0, rows = 0, dim = 0;
  float* outputs = nullptr;
  float* tops = nullptr;
  double* totals = nullptr;

  std::int64_t count() const { return portions * rows; }
  float* output(std::int64_t portion, std::int64_t row) const { return outputs + (portion * rows + row) * dim; }
  float& top(std::int64_t portion, std::int64_t row) const { return tops[portion * rows + row]; }
  double& total(std::int64_t portion, std::int64_t row) const { return totals[portion * rows + row]; }
};

/// The partial results of a batch, in one piece of memory: many pieces would be given back to the system every time.
class PartialsOfBatch {
 public:
  PartialsOfBatch(std::span<const PagedQueries> sequences, std::int64_t dim) {
    std::int64_t count = 0;
    for (const PagedQueries& sequence : sequences) {
      const AttentionCall& call = sequence.problem->call();
      all_.push_back({.portions = (call.key.tokens + portion_keys - 1) / portion_keys,
                      .rows = call.query.heads * call.query.tokens,
                      .dim = dim});
      count += all_.back().count();
    }
    outputs_ = AlignedFloats(count * dim);
    tops_.resize(static_cast<std::size_t>(count));
    totals_.resize(static_cast<std::size_t>(count));
    std::int64_t first = 0;
    for (Partials& one : all_) {
      one.outputs = outputs_.data() + first * dim;
      one.tops = tops_.data() + first;
      one.totals = totals_.data() + first;
      first += one.count();
    }
  }
  const Partials& operator[](std::size_t sequence) const { return all_[sequence]; }

 private:
  std::vector<Partials> all_;
  AlignedFloats outputs_;
  std::vector<float> tops_;
  std::vector<double> totals_;
};

/// Floats that are allocated again only if there are more of them.
class RoomForFloats {
 public:
  float* of(std::int64_t count) {
    if (count > count_) floats_ = AlignedFloats(count_ = count);
    return floats_.data();
  }

 private:
  AlignedFloats floats_;
  std::int64_t count_ = 0;
};

/// The query heads of one key head of one sequence, over one portion. Rows are [query heads of the group][queries].
class PortionRows {
 public:
  /// Begins a portion, whose partial results are written in place.
  void begin(const PagedQueries& sequence, const Partials& partials, std::int64_t portion, std::int64_t key_head,
             const Kernels& kernels) {
    p_ = sequence.problem.get();
    document_ = part_of(p_->documents()[0], portion);
    tree_ = sequence.tree;
    kernels_ = &kernels;
    key_head_ = key_head;
    queries_ = document_.queries;
    rows_ = p_->group() * queries_;
    dim_ = p_->head_dim();
    stride_ = keys_at_once + kernels.own.key_panel;
    query_ = query_room_.of(rows_ * dim_);
    scores_ = score_room_.of(rows_ * stride_);
    output_ = partials.output(portion, key_head * rows_);
    top_ = &partials.top(portion, key_head * rows_);
    total_ = &partials.total(portion, key_head * rows_);
    std::fill_n(output_, rows_ * dim_, 0.0f);
    std::fill_n(top_, rows_, masked_score);
    std::fill_n(total_, rows_, 0.0);
    rescale_.resize(static_cast<std::size_t>(rows_));
    ones_.assign(static_cast<std::size_t>(rows_), 1.0f);
    shape_.emplace(*p_, document_, 0, queries_);
    bias_.clear();
    const HeadsView& query = p_->call().query;
    for (std::int64_t r = 0; r < p_->group(); ++r) {
      const StoredRows from{
          .data = Problem::row(query, 0, 0, head(r)), .stride = query.token_stride, .rows = queries_, .dim = dim_};
      kernels.own.widen_rows(from, static_cast<float>(p_->scale() * log2_e), query_ + r * queries_ * dim_, dim_);
      if (p_->bias() != nullptr) bias_.emplace_back(*p_, document_, head(r));
    }
  }

  std::int64_t keys() const { return document_.keys; }
  /// Moves to a block of the portion; returns whether a query sees one of its keys.
  bool move_to(std::int64_t first, std::int64_t count) {
    first_ = first;
    count_ = count;
    return seen_ = shape_->move_to(first, count);
  }

  /// Computes the scores of a part of the block.
  void score(const Piece& piece) const {
    if (!seen_) return;
    kernels_->scores(piece.keys, query_, dim_, rows_, scores_ + piece.at, stride_);
    if (piece.key_scales != nullptr) multiply(piece, piece.key_scales);
  }

  /// Adds the values of the block, which was scored; `loads` what is read next.
  void add_values(std::span<const Piece> pieces, bool loads) {
    if (!seen_) return;
    // Every head of the group has the same shape.
    const TileRows one = shape_->rows();
    begin_.clear(), end_.clear();
    for (std::int64_t r = 0; one.begin != nullptr && r < p_->group(); ++r) {
      begin_.insert(begin_.end(), one.begin, one.begin + queries_);
      end_.insert(end_.end(), one.end, one.end + queries_);
    }
    const SoftmaxTile softmax{.shape = {.rows = rows_,
                                        .columns = count_,
                                        .begin = one.begin == nullptr ? nullptr : begin_.data(),
                                        .end = one.end == nullptr ? nullptr : end_.data()},
                              .scores = scores_,
                              .stride = stride_,
                              .top = top_,
                              .total = total_,
                              .rescale = rescale_.data()};
    if (p_->call().soft_cap > 0) kernels_->own.cap(softmax, static_cast<float>(p_->call().soft_cap * log2_e));
    add_terms();
    kernels_->own.softmax(softmax);
    clear_unseen(softmax.shape);
    for (const Piece& piece : pieces) {
      if (piece.value_scales != nullptr) multiply(piece, piece.value_scales);
      StoredRows values = piece.values;
      if (!loads) values.ahead = nullptr;
      kernels_->values(values, {scores_ + piece.at, stride_, rows_}, piece.at == 0 ? rescale_.data() : ones_.data(),
                       output_, dim_);
    }
  }

 private:
  static Document part_of(Document document, std::int64_t portion) {
    const std::int64_t first = portion * portion_keys, keys = std::min(portion_keys, document.keys - first);
    const auto part = [&](std::span<const Position> all) {
      return all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(keys));
    };
    document.first_key += first;
    document.keys = keys;
    document.key_ids = part(document.key_ids);
    document.key_places = part(document.key_places);
    return document;
  }
  std::int64_t head(std::int64_t r) const { return key_head_ * p_->group() + r; }

  void multiply(const Piece& piece, const float* scales) const {
    for (std::int64_t row = 0; row < rows_; ++row) {
      float* scores = scores_ + row * stride_ + piece.at;
      for (std::int64_t c = 0; c < piece.keys.rows; ++c) scores[c] *= scales[c];
    }
  }

  void add_terms() const {
    const TilePlace place{.first_query = 0, .rows = queries_, .first_key = first_, .columns = count_};
    for (std::int64_t r = 0; r < p_->group(); ++r) {
      float* scores = scores_ + r * queries_ * stride_;
      if (!bias_.empty()) bias_[static_cast<std::size_t>(r)].add(place, scores, stride_);
      shape_->hide_unseen(head(r), scores, stride_);
      if (!tree_.empty()) hide_other_branches(scores);
    }
  }

  // The last tokens of the sequence are those of the queries.
  void hide_other_branches(float* scores) const {
    const std::int64_t drafts = p_->call().key.tokens - queries_;
    for (std::int64_t c = std::max<std::int64_t>(0, drafts - document_.first_key - first_); c < count_; ++c) {
      const std::int64_t draft = document_.first_key + first_ + c - drafts;
      for (std::int64_t i = 0; i < queries_; ++i) {
        if (tree_[static_cast<std::size_t>(i * queries_ + draft)] == 0) scores[i * stride_ + c] = masked_score;
      }
    }
  }

  // softmax() clears only what the tiled product of values reads.
  void clear_unseen(const TileRows& shape) const {
    for (std::int64_t row = 0; shape.begin != nullptr && row < rows_; ++row) {
      float* weights = scores_ + row * stride_;
      std::fill(weights, weights + std::min(shape.begin[row], shape.end[row]), 0.0f);
      std::fill(weights + shape.end[row], weights + count_, 0.0f);
    }
  }

  const Problem* p_ = nullptr;
  Document document_;
  std::span<const std::uint8_t> tree_;
  const Kernels* kernels_ = nullptr;
  std::int64_t key_head_ = 0, queries_ = 0, rows_ = 0, dim_ = 0, stride_ = 0;
  RoomForFloats query_room_, score_room_;
  float *query_ = nullptr, *scores_ = nullptr, *output_ = nullptr, *top_ = nullptr;
  double* total_ = nullptr;
  std::vector<float> rescale_, ones_;
  std::optional<TileShape> shape_;
  std::vector<BiasTerm> bias_;
  std::vector<std::int32_t> begin_, end_;
  std::int64_t first_ = 0, count_ = 0;
  bool seen_ = false;
};

/// A portion that some sequences have in common.
struct SharedPortion {
  std::int64_t portion = 0;
  std::vector<PageSpan> spans;
  std::vector<std::size_t> members;
};

std::vector<SharedPortion> shared_portions(std::span<const PagedQueries> sequences, const PageLayout& layout) {
  std::vector<SharedPortion> portions;
  std::multimap<std::pair<std::int64_t, const std::byte*>, std::size_t> by_first;  // portions that begin alike
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    std::int64_t portion = 0;
    for (std::vector<PageSpan>& spans : portions_of(sequences[s].spans, layout, sequences[s].problem->head_dim())) {
      const std::pair place(portion++, spans[0].keys);
      const auto [begin, end] = by_first.equal_range(place);
      const auto found = std::find_if(begin, end, [&](const auto& entry) {
        const std::vector<PageSpan>& other = portions[entry.second].spans;
        return std::equal(spans.begin(), spans.end(), other.begin(), other.end(),
                          [](const PageSpan& a, const PageSpan& b) { return a.same_tokens(b); });
      });
      if (found != end) {
        portions[found->second].members.push_back(s);
      } else {
        by_first.emplace(place, portions.size());
        portions.push_back({place.first, std::move(spans), {s}});
      }
    }
  }
  return portions;
}

/// Heads of a portion that one thread reads one after the other.
struct Unit {
  const SharedPortion* portion = nullptr;
  std::int64_t first_head = 0, end_head = 0;
};

bool computes_turns(const SharedPortion& portion) {
  return std::any_of(portion.spans.begin(), portion.spans.end(),
                     [](const PageSpan& span) { return span.turns.steps != nullptr; });
}

// One unit per head; one for all heads if they share turns that are computed.
std::vector<Unit> units_of(const std::vector<SharedPortion>& portions, std::int64_t heads) {
  std::vector<Unit> units;
  for (const SharedPortion& portion : portions) {
    const std::int64_t at_once = computes_turns(portion) ? heads : 1;
    for (std::int64_t head = 0; head < heads; head += at_once) units.push_back({&portion, head, head + at_once});
  }
  return units;
}

/// Computes units one after the other.
class UnitReader {
 public:
  UnitReader(std::span<const PagedQueries> sequences, const PartialsOfBatch& partials, const Kernels& kernels,
             const PageLayout& layout, std::int64_t dim)
      : sequences_(sequences), partials_(partials), kernels_(kernels), turns_(layout, dim), blocks_(layout, dim) {}

  /// `next`: the unit that is probably computed next, or null.
  void attend(const Unit& unit, const Unit* next) {
    const std::span<const PageSpan> spans = turns_.computed(unit.portion->spans);
    for (std::int64_t head = unit.first_head; head < unit.end_head; ++head) {
      blocks_.begin(spans, head);
      if (head + 1 < unit.end_head) {
        blocks_.set_following(spans[0], head + 1);
      } else if (next != nullptr) {
        blocks_.set_following(next->portion->spans[0], next->first_head);
      }
      attend_head(*unit.portion, head);
    }
  }

 private:
  void attend_head(const SharedPortion& shared, std::int64_t head) {
    while (rooms_.size() < shared.members.size()) rooms_.emplace_back();
    const auto last = rooms_.begin() + std::ssize(shared.members);
    auto member = shared.members.begin();
    for (auto room = rooms_.begin(); room != last; ++room, ++member) {
      room->begin(sequences_[*member], partials_[*member], shared.portion, head, kernels_);
    }
    const std::int64_t keys = rooms_[0].keys();
    const auto block_at = [&](std::int64_t first) { return std::clamp<std::int64_t>(keys - first, 0, keys_at_once); };
    blocks_.advance(block_at(0));
    for (std::int64_t first = 0; first < keys; first += keys_at_once) {
      blocks_.advance(block_at(first + keys_at_once));
      bool seen = false;
      for (auto room = rooms_.begin(); room != last; ++room) seen |= room->move_to(first, block_at(first));
      if (!seen) continue;
      for (const Piece& piece : blocks_.pieces()) {
        blocks_.for_turned_keys(piece, [&](Piece part) {
          for (auto room = rooms_.begin(); room != last; ++room) {
            room->score(part);
            part.keys.ahead = nullptr;  // loaded once
          }
        });
      }
      for (auto room = rooms_.begin(); room != last; ++room) room->add_values(blocks_.pieces(), room == rooms_.begin());
    }
  }

  std::span<const PagedQueries> sequences_;
  const PartialsOfBatch& partials_;
  const Kernels& kernels_;
  ComputedTurns turns_;
  BlockReader blocks_;
  std::deque<PortionRows> rooms_;  // of the members
};

// Merges the portions of one row, and a sink.
void merge_row(const PagedQueries& sequence, const Partials& partials, std::int64_t row, const Kernels& kernels) {
  const Problem& problem = *sequence.problem;
  const AttentionCall& call = problem.call();
  const std::int64_t queries = call.query.tokens, dim = problem.head_dim();
  const std::int64_t head = row / queries, query = row % queries;
  const double sink = call.sink_logits.empty()
                          ? -HUGE_VAL
                          : static_cast<double>(call.sink_logits[static_cast<std::size_t>(head)]) * log2_e;
  double top = sink;
  for (std::int64_t portion = 0; portion < partials.portions; ++portion) {
    const double other = static_cast<double>(partials.top(portion, row));
    top = other <= top ? top : other;  // propagates NaN
  }
  double total = sink == -HUGE_VAL ? 0 : std::exp2(sink - top);
  std::vector<double> sum(static_cast<std::size_t>(dim), 0.0);
  for (std::int64_t portion = 0; portion < partials.portions; ++portion) {
    if (partials.total(portion, row) == 0) continue;
    const double weight = std::exp2(static_cast<double>(partials.top(portion, row)) - top);
    total += weight * partials.total(portion, row);
    const float* part = partials.output(portion, row);
    for (std::int64_t j = 0; j < dim; ++j) sum[static_cast<std::size_t>(j)] += weight * static_cast<double>(part[j]);
  }
  std::vector<float> output(sum.size(), 0.0f);
  for (std::size_t j = 0; total != 0 && j < sum.size(); ++j) output[j] = static_cast<float>(sum[j] / total);
  kernels.own.store_row(output.data(), 1.0f, dim, Problem::row(call.output, 0, query, head));
  if (float* lse = problem.log_sum_exp(0, head, query)) {
    *lse = total == 0 ? masked_score : static_cast<float>((top + std::log2(total)) / log2_e);
  }
}

}  // namespace

bool is_for_pages(const Problem& problem) {
  constexpr std::int64_t most_queries = 16;  // more are faster in tiles
  return problem.relative() == nullptr && problem.remapped() == nullptr && problem.call().query.tokens <= most_queries;
}

void attend_paged(std::span<const PagedQueries> sequences, const PageLayout& layout, Executor* executor) {
  if (sequences.empty()) return;
  const AttentionCall& any = sequences[0].problem->call();
  const Kernels kernels(any.query.type, layout.integers);
  const std::int64_t heads = any.key.heads, dim = sequences[0].problem->head_dim();
  const std::vector<SharedPortion> portions = shared_portions(sequences, layout);
  const PartialsOfBatch partials(sequences, dim);
  const auto run = [&](std::int64_t count, const std::function<void(std::int64_t)>& piece) {
    if (executor != nullptr && count > 1) return executor->run(count, piece);
    for (std::int64_t i = 0; i < count; ++i) piece(i);
  };
  const std::vector<Unit> units = units_of(portions, heads);
  // A piece reads units that follow each other, so that the next one is loaded in time.
  const std::int64_t count = std::ssize(units), threads = executor == nullptr ? 1 : executor->concurrency();
  const std::int64_t at_once = std::clamp<std::int64_t>(count / (8 * threads), 1, 8);
  run((count + at_once - 1) / at_once, [&](std::int64_t piece) {
    UnitReader reader(sequences, partials, kernels, layout, dim);
    for (std::int64_t i = piece * at_once; i < std::min(count, (piece + 1) * at_once); ++i) {
      const Unit* next = i + 1 < count ? &units[static_cast<std::size_t>(i + 1)] : nullptr;
      reader.attend(units[static_cast<std::size_t>(i)], next);
    }
  });
  const std::int64_t query_heads = any.query.heads;
  run(std::ssize(sequences) * query_heads, [&](std::int64_t unit) {
    const auto s = static_cast<std::size_t>(unit / query_heads);
    const std::int64_t queries = sequences[s].problem->call().query.tokens;
    for (std::int64_t query = 0; query < queries; ++query) {
      merge_row(sequences[s], partials[s], unit % query_heads * queries + query, kernels);
    }
  });
}

}  // namespace locus
