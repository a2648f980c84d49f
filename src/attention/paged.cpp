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

#include "attention/attend.h"
#include "attention/position_terms.h"
#include "attention/tile_shape.h"
#include "hwy/cache_control.h"

namespace locus {
namespace {

constexpr std::int64_t portion_keys = 256;
constexpr std::int64_t keys_at_once = 32;   // keys, values and the next keys fit the L1 cache or nearly so
constexpr std::int64_t turned_at_once = 8;  // their turned form is used at once and takes little of it

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

/// A contiguous part of a block: `at` is its first column.
struct Piece {
  std::int64_t at = 0;
  StoredRows keys, values;
  const float *key_scales = nullptr, *value_scales = nullptr;
  KeyTurns turns = {};
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

/// Reads the blocks of one head of a portion, one after the other. One object per unit.
class BlockReader {
 public:
  BlockReader(std::span<const PageSpan> spans, std::int64_t head, const PageLayout& layout, std::int64_t dim)
      : spans_(spans), head_(head), layout_(layout), dim_(dim) {}

  /// Advances by `count` tokens. Then pieces() are those of the tokens that were next before.
  void advance(std::int64_t count) {
    std::swap(pieces_, next_);
    next_.clear();
    for (std::int64_t at = 0; at < count;) {
      const PageSpan& span = spans_[span_];
      const std::int64_t here = std::min(count - at, span.count - used_);
      next_.push_back(piece(span, at, here));
      at += here;
      used_ += here;
      if (used_ == span.count) ++span_, used_ = 0;
    }
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      Piece& piece = pieces_[i];
      piece.keys.ahead = static_cast<const std::byte*>(piece.values.data);
      if (i < next_.size() && next_[i].keys.rows >= piece.keys.rows) {
        piece.values.ahead = static_cast<const std::byte*>(next_[i].keys.data);
      }
    }
  }

  /// The pieces of the current block as stored, with the addresses of what is read after them.
  std::span<const Piece> pieces() const { return pieces_; }

  /// Calls use(part) for parts of a piece, in order, whose keys are turned.
  template <class Use>
  void for_turned_keys(const Piece& piece, const Use& use) {
    if (!piece.turns.any()) return use(piece);
    const std::int64_t key_bytes = dim_ * layout_.element_size;
    keys_.resize(static_cast<std::size_t>(turned_at_once * key_bytes));
    scales_.resize(turned_at_once);
    for (std::int64_t first = 0; first < piece.keys.rows; first += turned_at_once) {
      Piece part = piece;
      part.at += first;
      part.keys.rows = std::min(turned_at_once, piece.keys.rows - first);
      part.keys.ahead += first * key_bytes;
      turn_stored(layout_,
                  {.keys = static_cast<const std::byte*>(piece.keys.data) + first * key_bytes,
                   .scales = piece.key_scales == nullptr ? nullptr : piece.key_scales + first,
                   .count = part.keys.rows,
                   .dim = dim_,
                   .turns = piece.turns.from(first)},
                  keys_.data(), scales_.data());
      part.keys.data = keys_.data();
      if (layout_.integers) part.key_scales = scales_.data();
      use(part);
    }
  }

 private:
  Piece piece(const PageSpan& span, std::int64_t at, std::int64_t count) const {
    const std::int64_t offset = (head_ * layout_.head_stride + used_ * dim_) * layout_.element_size;
    const std::int64_t scale_offset = head_ * layout_.scale_stride + used_;
    Piece piece{.at = at,
                .keys = {.data = span.keys + offset, .stride = dim_, .rows = count, .dim = dim_},
                .values = {.data = span.values + offset, .stride = dim_, .rows = count, .dim = dim_},
                .turns = span.turns.from(used_)};
    if (!layout_.integers) return piece;
    piece.key_scales = span.key_scales + scale_offset;
    piece.value_scales = span.value_scales + scale_offset;
    return piece;
  }

  std::span<const PageSpan> spans_;
  std::int64_t head_;
  const PageLayout& layout_;
  std::int64_t dim_;
  std::size_t span_ = 0;
  std::int64_t used_ = 0;
  std::vector<Piece> pieces_, next_;
  std::vector<std::byte> keys_;
  std::vector<float> scales_;
};

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

/// The query heads of one key head of one sequence, over one portion. Rows are [query heads of the group][queries].
class PortionRows {
 public:
  PortionRows(const PagedQueries& sequence, std::int64_t portion, std::int64_t key_head, const Kernels& kernels)
      : p_(*sequence.problem),
        document_(part_of(p_.documents()[0], portion)),
        tree_(sequence.tree),
        kernels_(kernels),
        key_head_(key_head),
        queries_(document_.queries),
        rows_(p_.group() * queries_),
        dim_(p_.head_dim()),
        stride_(keys_at_once + kernels.own.panel),
        query_(rows_ * dim_),
        scores_(rows_ * stride_),
        top_(static_cast<std::size_t>(rows_), masked_score),
        rescale_(static_cast<std::size_t>(rows_), 1.0f),
        ones_(static_cast<std::size_t>(rows_), 1.0f),
        total_(static_cast<std::size_t>(rows_), 0.0),
        output_(zeros(rows_ * dim_)),
        shape_(p_, document_, 0, queries_) {
    const HeadsView& query = p_.call().query;
    for (std::int64_t r = 0; r < p_.group(); ++r) {
      const StoredRows from{
          .data = Problem::row(query, 0, 0, head(r)), .stride = query.token_stride, .rows = queries_, .dim = dim_};
      kernels.own.widen_rows(from, static_cast<float>(p_.scale() * log2_e), query_.data() + r * queries_ * dim_, dim_);
      if (p_.bias() != nullptr) bias_.emplace_back(p_, document_, head(r));
    }
  }

  std::int64_t keys() const { return document_.keys; }
  /// Moves to a block of the portion; returns whether a query sees one of its keys.
  bool move_to(std::int64_t first, std::int64_t count) {
    first_ = first;
    count_ = count;
    return seen_ = shape_.move_to(first, count);
  }

  /// Computes the scores of a part of the block.
  void score(const Piece& piece) const {
    if (!seen_) return;
    kernels_.scores(piece.keys, query_.data(), dim_, rows_, scores_.data() + piece.at, stride_);
    if (piece.key_scales != nullptr) multiply(piece, piece.key_scales);
  }

  /// Adds the values of the block, which was scored.
  void add_values(std::span<const Piece> pieces) {
    if (!seen_) return;
    // Every head of the group has the same shape.
    const TileRows one = shape_.rows();
    begin_.clear(), end_.clear();
    for (std::int64_t r = 0; one.begin != nullptr && r < p_.group(); ++r) {
      begin_.insert(begin_.end(), one.begin, one.begin + queries_);
      end_.insert(end_.end(), one.end, one.end + queries_);
    }
    const SoftmaxTile softmax{.shape = {.rows = rows_,
                                        .columns = count_,
                                        .begin = one.begin == nullptr ? nullptr : begin_.data(),
                                        .end = one.end == nullptr ? nullptr : end_.data()},
                              .scores = scores_.data(),
                              .stride = stride_,
                              .top = top_.data(),
                              .total = total_.data(),
                              .rescale = rescale_.data()};
    if (p_.call().soft_cap > 0) kernels_.own.cap(softmax, static_cast<float>(p_.call().soft_cap * log2_e));
    add_terms();
    kernels_.own.softmax(softmax);
    clear_unseen(softmax.shape);
    for (const Piece& piece : pieces) {
      if (piece.value_scales != nullptr) multiply(piece, piece.value_scales);
      kernels_.values(piece.values, {scores_.data() + piece.at, stride_, rows_},
                      piece.at == 0 ? rescale_.data() : ones_.data(), output_.data(), dim_);
    }
  }

  void store(const Partials& partials, std::int64_t portion) const {
    const std::int64_t first = key_head_ * rows_;
    for (std::int64_t row = 0; row < rows_; ++row) {
      std::copy_n(output_.data() + row * dim_, dim_, partials.output(portion, first + row));
      partials.top(portion, first + row) = top_[static_cast<std::size_t>(row)];
      partials.total(portion, first + row) = total_[static_cast<std::size_t>(row)];
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
  std::int64_t head(std::int64_t r) const { return key_head_ * p_.group() + r; }

  void multiply(const Piece& piece, const float* scales) const {
    for (std::int64_t row = 0; row < rows_; ++row) {
      float* scores = scores_.data() + row * stride_ + piece.at;
      for (std::int64_t c = 0; c < piece.keys.rows; ++c) scores[c] *= scales[c];
    }
  }

  void add_terms() const {
    const TilePlace place{.first_query = 0, .rows = queries_, .first_key = first_, .columns = count_};
    for (std::int64_t r = 0; r < p_.group(); ++r) {
      float* scores = scores_.data() + r * queries_ * stride_;
      if (!bias_.empty()) bias_[static_cast<std::size_t>(r)].add(place, scores, stride_);
      shape_.hide_unseen(head(r), scores, stride_);
      if (!tree_.empty()) hide_other_branches(scores);
    }
  }

  // The last tokens of the sequence are those of the queries.
  void hide_other_branches(float* scores) const {
    const std::int64_t drafts = p_.call().key.tokens - queries_;
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
      float* weights = scores_.data() + row * stride_;
      std::fill(weights, weights + std::min(shape.begin[row], shape.end[row]), 0.0f);
      std::fill(weights + shape.end[row], weights + count_, 0.0f);
    }
  }

  const Problem& p_;
  Document document_;
  std::span<const std::uint8_t> tree_;
  const Kernels& kernels_;
  std::int64_t key_head_, queries_, rows_, dim_, stride_;
  AlignedFloats query_, scores_;
  std::vector<float> top_, rescale_, ones_;
  std::vector<double> total_;
  AlignedFloats output_;
  TileShape shape_;
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

// The spans with their turns as rows, which are valid until the next call on this thread. Meanwhile the keys of the
// first head are loaded.
std::vector<PageSpan> with_computed_turns(std::vector<PageSpan> spans, const PageLayout& layout, std::int64_t dim) {
  constexpr std::int64_t at_once = 4;
  thread_local std::vector<float> rows;
  std::int64_t used = 0;
  for (PageSpan& span : spans) {
    if (span.turns.steps == nullptr) continue;
    rows.resize(static_cast<std::size_t>(portion_keys * layout.turn->size()));
    float* own = rows.data() + used * layout.turn->size();
    for (std::int64_t first = 0; first < span.count; first += at_once) {
      const std::int64_t count = std::min(at_once, span.count - first), key_bytes = dim * layout.element_size;
      for (std::int64_t byte = first * key_bytes; byte < (first + count) * key_bytes; byte += 64) {
        hwy::Prefetch(span.keys + byte);
      }
      layout.turn->compute(span.turns.from(first), count, own + first * layout.turn->size());
    }
    span.turns = {.rows = own, .stride = layout.turn->size()};
    used += span.count;
  }
  return spans;
}

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
  const auto attend_head = [&](const SharedPortion& shared, std::span<const PageSpan> spans, std::int64_t head) {
    std::deque<PortionRows> members;
    for (const std::size_t s : shared.members) members.emplace_back(sequences[s], shared.portion, head, kernels);
    BlockReader reader(spans, head, layout, dim);
    const std::int64_t keys = members[0].keys();
    const auto block_at = [&](std::int64_t first) { return std::clamp<std::int64_t>(keys - first, 0, keys_at_once); };
    reader.advance(block_at(0));
    for (std::int64_t first = 0; first < keys; first += keys_at_once) {
      reader.advance(block_at(first + keys_at_once));
      bool seen = false;
      for (PortionRows& member : members) seen |= member.move_to(first, block_at(first));
      if (!seen) continue;
      for (const Piece& piece : reader.pieces()) {
        reader.for_turned_keys(piece, [&](const Piece& part) {
          for (const PortionRows& member : members) member.score(part);
        });
      }
      for (PortionRows& member : members) member.add_values(reader.pieces());
    }
    for (std::size_t i = 0; i < members.size(); ++i) members[i].store(partials[shared.members[i]], shared.portion);
  };
  const std::vector<Unit> units = units_of(portions, heads);
  run(std::ssize(units), [&](std::int64_t i) {
    const Unit& unit = units[static_cast<std::size_t>(i)];
    const std::vector<PageSpan> spans = with_computed_turns(unit.portion->spans, layout, dim);
    for (std::int64_t head = unit.first_head; head < unit.end_head; ++head) attend_head(*unit.portion, spans, head);
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
