// SPDX-License-Identifier: Apache-2.0
// Attention in tiles with an online softmax. Keys and values are packed once per key head. Each block of queries then
// visits the key blocks, nearest first, and keeps for every row the largest score, the sum of weights and the
// weighted sum.
//
// Exact skipping. With a bias that never grows with distance, let all keys of the unvisited blocks on one side be at
// least as far as key j, and at most n of them visible. By Cauchy-Schwarz their scores are at most
//   b = |q| max|k| scale + bias(q, j),
// so their total weight is at most n 2^b, while that of the visited keys is total 2^top (all in base 2; top is what
// scores are relative to). The block stops on that side when the quotient is below 2^-26 for every row: both sides
// together omit less than w = 2^-25 of a row's weight, and the output, a mean of values, changes by less than
// 2 w max|v| = 2^-24 max|v|. |q| max|k| is enlarged by 2^-15, which covers the rounding of computed scores (at most
// dim + 3 roundings of 2^-24, dim <= 256) and of the norms.
//
// Weights at once. The same bound says when a row needs no maximum: if all scores of a tile are at most top + 60, then
// 2^(score - top) does not overflow, and a weight is as precise as relative to the maximum. Where no key of the row has
// been visited, top may be the bias of any visible key: its score is then within |q| max|k| scale of top, so that
// weights below 2^-125, which become 0, do not matter if that is at most 60.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <vector>

#include "attention/attend.h"
#include "attention/packed_head.h"
#include "attention/position_terms.h"
#include "attention/region_turns.h"
#include "attention/tile_shape.h"

namespace locus {
namespace {

struct BlockSizes {
  std::int64_t rows;
  std::int64_t keys;
};

// How far a score may be above the top of its row.
constexpr double most_above_top = 60;

// Larger blocks amortise more; smaller ones can be skipped earlier.
BlockSizes block_sizes(bool skipping, std::int64_t panel) {
  return skipping ? BlockSizes{60, round_up(64, panel)} : BlockSizes{120, round_up(128, panel)};
}

// The exponent of the largest power of two that is at most x, for x >= 2^-1022; at most -1023 for smaller ones.
double whole_log2(double x) {
  return static_cast<double>(static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(x) >> 52) - 1023);
}

/// One query head of a document.
struct Head {
  const Problem& problem;
  const Document& document;
  const AttendKernels& kernels;
  const PackedHead& packed;
  std::int64_t head;
  const BiasTerm& bias;
  const RelativeTerm& relative;
  const RegionTurns& turns;
  BlockSizes sizes;
  bool skipping;
  bool bounded;  ///< a score has no other terms than q.k and a bias by offset, and visible keys are a range
};

/// One block of queries: its state and its loop over the key blocks.
class QueryBlock {
 public:
  QueryBlock(const Head& head, std::int64_t first, std::int64_t rows)
      : h_(head),
        dim_(head.problem.head_dim()),
        padded_dim_(round_up(dim_, head.kernels.value_panel)),
        stride_(head.sizes.keys + head.kernels.key_panel),
        first_(first),
        rows_(rows),
        query_(rows * dim_),
        position_(head.relative.present() ? rows * dim_ : 0),
        table_products_(rows * head.relative.table_rows()),
        scores_(rows * stride_),
        output_(rows * padded_dim_),
        top_(static_cast<std::size_t>(rows), masked_score),
        rescale_(static_cast<std::size_t>(rows), 1.0f),
        total_(static_cast<std::size_t>(rows), 0.0),
        counts_(static_cast<std::size_t>(rows), 0.0),
        tile_(head.problem, head.document, first, rows) {
    std::fill_n(output_.data(), rows * padded_dim_, 0.0f);
    if (!h_.bounded) std::fill_n(scores_.data(), rows * stride_, 0.0f);
    load_queries();
    if (const double* before = h_.problem.gate_count(h_.document.batch, h_.head, h_.document.first_query + first_)) {
      counts_.assign(before, before + rows_);
    }
    const std::span<const float> sinks = h_.problem.call().sink_logits;
    if (!sinks.empty()) {
      const double sink = static_cast<double>(sinks[static_cast<std::size_t>(h_.head)]);
      std::fill(top_.begin(), top_.end(), static_cast<float>(sink * log2_e));
      if (sink > -HUGE_VAL) std::fill(total_.begin(), total_.end(), 1.0);
    } else if (h_.bounded) {
      choose_tops();
    }
    least_top_ = *std::min_element(top_.begin(), top_.end());
  }

  AttentionWork run() {
    const std::int64_t blocks = round_up(h_.document.keys, h_.sizes.keys) / h_.sizes.keys;
    if (blocks > 0) {
      // Counting goes from the last key to the first.
      const std::int64_t start = h_.relative.counted() ? blocks - 1 : nearest_key() / h_.sizes.keys;
      for (std::int64_t b = start; b >= 0 && !left_is_irrelevant(b); --b) attend_block(b);
      for (std::int64_t b = start + 1; b < blocks && !right_is_irrelevant(b); ++b) attend_block(b);
    }
    store();
    return work_;
  }

 private:
  void load_queries() {
    const AttentionCall& call = h_.problem.call();
    const TilePlace place{.first_query = first_, .rows = rows_};
    if (h_.relative.present()) {
      h_.relative.make_queries(place, query_.data(), position_.data());
      h_.relative.make_products(rows_, position_.data(), table_products_.data());
    } else {
      const StoredRows from{
          .data = Problem::row(call.query, h_.document.batch, h_.document.first_query + first_, h_.head),
          .stride = call.query.token_stride,
          .rows = rows_,
          .dim = dim_};
      h_.kernels.widen_rows(from, static_cast<float>(h_.problem.scale() * log2_e), query_.data(), dim_);
    }
    if (!h_.skipping && !h_.bounded) return;
    norm_.resize(static_cast<std::size_t>(rows_));
    attend_kernels(ElementType::float32)
        .squares({.data = query_.data(), .stride = dim_, .rows = rows_, .dim = dim_}, norm_.data());
    for (float& norm : norm_) {
      norm = norm_bound(norm, dim_);
      if (!(norm <= largest_norm_) && !std::isnan(largest_norm_)) largest_norm_ = norm;  // NaN stays
    }
  }

  // The key at the place of a query, or the nearest one that it sees.
  std::int64_t nearest_to(std::int64_t i) const {
    const VisibleRange& range = tile_.ranges()[static_cast<std::size_t>(i)];
    const Position own = h_.document.query_ids[0] + first_ + i - h_.document.key_ids[0];
    return std::clamp<std::int64_t>(h_.document.ids_advance ? own : range.begin, range.begin, range.end - 1);
  }

  // Sets the tops of all rows to the bias of a visible key, if scores are small enough.
  void choose_tops() {
    const std::int64_t blocks = round_up(h_.document.keys, h_.sizes.keys) / h_.sizes.keys;
    if (blocks == 0 || !(largest_norm_ * h_.packed.largest_norm_up_to(blocks - 1) <= most_above_top)) return;
    for (std::int64_t i = 0; i < rows_; ++i) {
      const VisibleRange& range = tile_.ranges()[static_cast<std::size_t>(i)];
      const bool biased = h_.bias.present() && range.begin < range.end;
      top_[static_cast<std::size_t>(i)] = biased ? *h_.bias.window(first_ + i, nearest_to(i)) : 0.0f;
    }
  }

  // Whether no score of block b is above the top of its row by more than most_above_top.
  bool near_tops(std::int64_t b) const {
    if (!h_.bounded) return false;
    const double most = largest_norm_ * static_cast<double>(h_.packed.largest_norm(b)) + h_.bias.largest();
    return most <= static_cast<double>(least_top_) + most_above_top;
  }

  // The first block to visit: that of the key at the place of the middle query, or of the last visible key.
  std::int64_t nearest_key() const {
    std::int64_t last = 0;
    for (const VisibleRange& range : tile_.ranges()) last = std::max(last, std::max(range.end, range.sinks_end) - 1);
    if (!h_.document.ids_advance) return last;
    const Position middle = h_.document.query_ids[0] + first_ + rows_ / 2;
    return std::clamp<std::int64_t>(middle - h_.document.key_ids[0], 0, last);
  }

  // ---- skipping

  // Whether the keys of blocks up to b (from b on), of which `key` is the nearest, are negligible for every row.
  bool is_irrelevant(std::int64_t key, bool left, double norm, std::int64_t count) const {
    for (std::int64_t i = 0; i < rows_; ++i) {
      const VisibleRange& range = tile_.ranges()[static_cast<std::size_t>(i)];
      const bool unseen =
          left ? range.begin > key && range.sinks_end == 0 : std::max(range.end, range.sinks_end) <= key;
      if (unseen) continue;
      const Position offset = h_.document.key_ids[0] + key - h_.document.query_ids[0] - first_ - i;
      if (left ? offset > 0 : offset < 0) return false;  // the nearest key is among them
      const double most = static_cast<double>(norm_[static_cast<std::size_t>(i)]) * norm * (1 + 0x1p-15) +
                          static_cast<double>(*h_.bias.window(first_ + i, key));
      const double visited =
          static_cast<double>(top_[static_cast<std::size_t>(i)]) + whole_log2(total_[static_cast<std::size_t>(i)]);
      if (!(most + std::log2(static_cast<double>(count)) < visited - 26)) return false;
    }
    return true;
  }

  bool left_is_irrelevant(std::int64_t b) {
    if (!h_.skipping) return false;
    const std::int64_t end = std::min((b + 1) * h_.sizes.keys, h_.document.keys);
    if (!is_irrelevant(end - 1, true, static_cast<double>(h_.packed.largest_norm_up_to(b)), end)) return false;
    work_.skipped += tile_.blocks_seen(0, b + 1, h_.sizes.keys);
    return true;
  }

  bool right_is_irrelevant(std::int64_t b) {
    if (!h_.skipping) return false;
    const std::int64_t first = b * h_.sizes.keys;
    const std::int64_t count = h_.document.keys - first;
    if (!is_irrelevant(first, false, static_cast<double>(h_.packed.largest_norm_from(b)), count)) return false;
    work_.skipped += tile_.blocks_seen(b, round_up(h_.document.keys, h_.sizes.keys) / h_.sizes.keys, h_.sizes.keys);
    return true;
  }

  // ---- one tile

  // Returns false if no row sees a key of block b.
  bool shape_block(std::int64_t b) {
    const std::int64_t first = b * h_.sizes.keys;
    return tile_.move_to(first, std::min(h_.sizes.keys, h_.document.keys - first));
  }

  void attend_block(std::int64_t b) {
    if (!shape_block(b)) return;
    ++work_.computed;
    const std::int64_t first_key = b * h_.sizes.keys;
    const TileRows shape = tile_.rows();
    const TilePlace place{.first_query = first_, .rows = rows_, .first_key = first_key, .columns = shape.columns};
    const double cap = h_.problem.call().soft_cap;
    const float* window = cap == 0 && !h_.relative.present() ? h_.bias.window(first_, first_key) : nullptr;
    float* scores = scores_.data();
    const ScoreTile products{.shape = shape,
                             .dim = dim_,
                             .query = query_.data(),
                             .query_stride = dim_,
                             .keys = h_.packed.keys(first_key),
                             .bias = window,
                             .scores = scores,
                             .stride = stride_};
    if (near_tops(b)) {
      h_.kernels.weighted({.scores = products, .reference = top_.data(), .total = total_.data()});
      return add_values(first_key, shape, nullptr);
    }
    if (h_.turns.present()) {
      score_regions(place, shape);
    } else {
      h_.kernels.scores(products);
    }
    const SoftmaxTile softmax{.shape = shape,
                              .scores = scores,
                              .stride = stride_,
                              .top = top_.data(),
                              .total = total_.data(),
                              .rescale = rescale_.data()};
    const PositionQueries position{position_.data(), table_products_.data(), counts_.data()};
    if (h_.relative.counted()) {
      h_.relative.add_counted(place, shape, position, scores, stride_);
    } else if (h_.relative.present()) {
      h_.relative.add(place, position, scores, stride_);
    }
    if (cap > 0) h_.kernels.cap(softmax, static_cast<float>(cap * log2_e));
    if (h_.bias.present() && window == nullptr) h_.bias.add(place, scores, stride_);
    tile_.hide_unseen(h_.head, scores, stride_);
    h_.kernels.softmax(softmax);
    least_top_ = *std::min_element(top_.begin(), top_.end());
    add_values(first_key, shape, rescale_.data());
    if (h_.relative.has_values()) {
      h_.relative.add_values(place, scores, stride_, shape, output_.data(), padded_dim_);
    }
  }

  void add_values(std::int64_t first_key, const TileRows& shape, const float* rescale) {
    h_.kernels.values({.shape = shape,
                       .dim = padded_dim_,
                       .weights = scores_.data(),
                       .stride = stride_,
                       .values = h_.packed.values(first_key),
                       .panel_stride = h_.packed.values_stride(),
                       .rescale = rescale,
                       .output = output_.data()});
  }

  // ---- offset maps

  // The queries as a region turns them, computed when the first tile of that region is met.
  const float* queries_in(std::size_t region) {
    if (h_.turns.queries_stay(region)) return query_.data();
    turned_.resize(h_.turns.regions());
    AlignedFloats& turned = turned_[region];
    if (turned.data() == nullptr) {
      turned = AlignedFloats(rows_ * dim_);
      h_.turns.turn_queries(region, {.first = first_,
                                     .count = rows_,
                                     .data = turned.data(),
                                     .stride = dim_,
                                     .from = query_.data(),
                                     .from_stride = dim_});
    }
    return turned.data();
  }

  void score_region(std::size_t region, const TilePlace& place, const TileRows& shape, float* scores) {
    h_.kernels.scores({.shape = shape,
                       .dim = dim_,
                       .query = queries_in(region),
                       .query_stride = dim_,
                       .keys = h_.packed.keys_in(region, place.first_key),
                       .scores = scores,
                       .stride = stride_});
  }

  // Scores of a tile under an offset map: one product where all pairs are in one region. Else, where ids advance, every
  // row has the pairs of a region side by side, and only the panels that lie across a border are computed twice.
  void score_regions(const TilePlace& place, const TileRows& shape) {
    const std::uint32_t found = h_.turns.regions_of(place, regions_);
    if (std::has_single_bit(found)) {
      return score_region(static_cast<std::size_t>(std::countr_zero(found)), place, shape, scores_.data());
    }
    if (region_scores_.data() == nullptr) region_scores_ = AlignedFloats(rows_ * stride_);
    bool first = true;
    for (std::size_t region = 0; region < h_.turns.regions(); ++region) {
      if ((found >> region & 1) == 0) continue;
      const TileRows own = h_.document.ids_advance ? columns_in(region, place, shape) : shape;
      score_region(region, place, own, first ? scores_.data() : region_scores_.data());
      if (!first) take_region(region, place, own);
      first = false;
    }
  }

  // The columns of a region that each row sees.
  TileRows columns_in(std::size_t region, const TilePlace& place, const TileRows& shape) {
    region_begin_.resize(static_cast<std::size_t>(place.rows));
    region_end_.resize(static_cast<std::size_t>(place.rows));
    for (std::int64_t i = 0; i < place.rows; ++i) {
      const RegionTurns::Keys keys = h_.turns.keys_of(region, place.first_query + i);
      const std::int64_t begin = shape.begin == nullptr ? 0 : shape.begin[i];
      const std::int64_t end = shape.end == nullptr ? place.columns : shape.end[i];
      const auto inside = [&](std::int64_t key) {
        return static_cast<std::int32_t>(std::clamp(key - place.first_key, begin, std::max(begin, end)));
      };
      region_begin_[static_cast<std::size_t>(i)] = inside(keys.begin);
      region_end_[static_cast<std::size_t>(i)] = inside(keys.end);
    }
    return {.rows = shape.rows, .columns = shape.columns, .begin = region_begin_.data(), .end = region_end_.data()};
  }

  // Takes over the scores of a region.
  void take_region(std::size_t region, const TilePlace& place, const TileRows& own) {
    for (std::int64_t i = 0; i < place.rows; ++i) {
      float* to = scores_.data() + i * stride_;
      const float* from = region_scores_.data() + i * stride_;
      if (h_.document.ids_advance) {
        if (own.begin[i] < own.end[i]) std::copy(from + own.begin[i], from + own.end[i], to + own.begin[i]);
        continue;
      }
      const std::uint8_t* regions = regions_.data() + i * place.columns;
      for (std::int64_t c = 0; c < place.columns; ++c) {
        if (regions[c] == region) to[c] = from[c];
      }
    }
  }

  void store() const {
    const AttentionCall& call = h_.problem.call();
    double* counts = h_.problem.gate_count(h_.document.batch, h_.head, h_.document.first_query + first_);
    if (counts != nullptr) std::copy(counts_.begin(), counts_.end(), counts);
    for (std::int64_t i = 0; i < rows_; ++i) {
      const std::int64_t query = h_.document.first_query + first_ + i;
      const double total = total_[static_cast<std::size_t>(i)];
      const double top = static_cast<double>(top_[static_cast<std::size_t>(i)]);
      h_.kernels.store_row(output_.data() + i * padded_dim_, total == 0 ? 0.0f : static_cast<float>(1 / total), dim_,
                           Problem::row(call.output, h_.document.batch, query, h_.head));
      if (float* lse = h_.problem.log_sum_exp(h_.document.batch, h_.head, query)) {
        *lse = total == 0 ? masked_score : static_cast<float>((top + std::log2(total)) / log2_e);
      }
    }
  }

  const Head& h_;
  std::int64_t dim_, padded_dim_, stride_, first_, rows_;
  AlignedFloats query_, position_, table_products_, scores_, output_;
  std::vector<float> top_, rescale_, norm_;
  float least_top_ = 0;      ///< of all rows
  double largest_norm_ = 0;  ///< of all queries
  std::vector<double> total_, counts_;
  TileShape tile_;
  AttentionWork work_;
  std::vector<AlignedFloats> turned_;  ///< queries for each region of an offset map
  AlignedFloats region_scores_;
  std::vector<std::uint8_t> regions_;
  std::vector<std::int32_t> region_begin_, region_end_;
};

void run_pieces(Executor* executor, std::int64_t count, const std::function<void(std::int64_t)>& piece) {
  if (executor != nullptr && count > 1) return executor->run(count, piece);
  for (std::int64_t i = 0; i < count; ++i) piece(i);
}

}  // namespace

AttentionWork attend_in_tiles(const Problem& problem) {
  const AttentionCall& call = problem.call();
  const AttendKernels kernels = attend_kernels(call.query.type, problem.head_dim());
  const auto documents = static_cast<std::int64_t>(problem.documents().size());
  const std::int64_t units = documents * call.key.heads;
  std::atomic<std::int64_t> computed = 0, skipped = 0;
  std::vector<RegionTurns> turns;  // of every document, shared by the heads
  for (const Document& document : problem.documents()) turns.emplace_back(problem, document, true);

  const auto run_unit = [&](std::int64_t unit, Executor* executor) {
    const Document& document = problem.documents()[static_cast<std::size_t>(unit / call.key.heads)];
    const std::int64_t key_head = unit % call.key.heads;
    const bool skipping = call.skip_irrelevant_blocks && problem.decaying() && document.ids_advance &&
                          document.keys > 0 && problem.bias()->toeplitz && problem.head_dim() <= 256;
    const BlockSizes sizes = block_sizes(skipping, kernels.key_panel);
    const bool plain = problem.relative() == nullptr && problem.remapped() == nullptr && call.soft_cap == 0 &&
                       document.places_rise && !document.patchy && call.mask.sinks == 0 && document.keys > 0;
    const RegionTurns& turn = turns[static_cast<std::size_t>(unit / call.key.heads)];
    const PackedHead packed(problem, document, key_head, sizes.keys, turn);
    for (std::int64_t head = key_head * problem.group(); head < (key_head + 1) * problem.group(); ++head) {
      const BiasTerm bias(problem, document, head);
      const RelativeTerm relative(problem, document, head, kernels);
      const bool bounded = plain && (!bias.present() || bias.window(0, 0) != nullptr);
      const Head whole{problem, document, kernels, packed, head, bias, relative, turn, sizes, skipping, bounded};
      const std::int64_t blocks = round_up(document.queries, sizes.rows) / sizes.rows;
      run_pieces(executor, blocks, [&](std::int64_t i) {
        const std::int64_t first =
            (blocks - 1 - i) * sizes.rows;  // with a causal mask the last block has the most work
        QueryBlock block(whole, first, std::min(sizes.rows, document.queries - first));
        const AttentionWork work = block.run();
        computed += work.computed;
        skipped += work.skipped;
      });
    }
  };
  // Heads share nothing, so they are the better pieces if there are enough of them.
  const std::int64_t threads = call.executor == nullptr ? 1 : call.executor->concurrency();
  const bool by_unit = units % threads == 0 || units >= 4 * threads;
  run_pieces(by_unit ? call.executor : nullptr, units,
             [&](std::int64_t unit) { run_unit(unit, by_unit ? nullptr : call.executor); });
  return {computed, skipped};
}

}  // namespace locus
