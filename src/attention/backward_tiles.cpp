// SPDX-License-Identifier: Apache-2.0
// The backward pass in tiles. With p = 2^(score - lse), g the gradient of the output and D = g . output per row:
//
//   dv += p^T g,   dp = g v^T,   ds = p (dp - D),   dq += ds k,   dk += ds^T q
//
// Queries are multiplied by the softmax scale and log2 e, plus the head's bias vector if the encoding has one. dk
// sums these scaled rows and is divided by log2 e at the end.
//
// Where offsets are remapped, the regions are taken one after the other, with queries and keys turned for the region and
// all pairs of other regions hidden: weights come from the log-sum-exp, so a region needs nothing of the others. What it
// gives to queries and keys is turned back and added up.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attention/backward.h"
#include "attention/region_turns.h"
#include "attention/term_gradients.h"
#include "attention/tile_shape.h"

namespace locus {
namespace {

// Two tiles of floats fit in the L1 cache. The sizes are multiples of the 6 rows and columns that kernels process at
// once.
constexpr std::int64_t block_rows = 48;
std::int64_t block_keys(std::int64_t panel) { return round_up(48, panel); }

/// Rows packed as values: one panel of columns after another.
struct PackedRows {
  AlignedFloats data;
  std::int64_t panel_stride = 0;
};

PackedRows pack(const AttendKernels& kernels, const StoredRows& from) {
  PackedRows packed{AlignedFloats(from.rows * round_up(from.dim, kernels.value_panel)),
                    from.rows * kernels.value_panel};
  kernels.pack_values(from, kernels.value_panel, packed.data.data(), packed.panel_stride);
  return packed;
}

/// Keys and values of one key head in one document, packed for the products, and their gradients.
struct KeyHead {
  KeyHead(const Problem& problem, const Document& document, std::int64_t head)
      : kernels(attend_kernels(problem.call().query.type, problem.head_dim())),
        dim(problem.head_dim()),
        padded_dim(round_up(dim, kernels.value_panel)),
        turns(problem, document, true) {
    const AttentionCall& call = problem.call();
    const auto stored = [&](const HeadsView& view) {
      return StoredRows{.data = Problem::row(view, document.batch, document.first_key, head),
                        .stride = view.token_stride,
                        .rows = document.keys,
                        .dim = dim};
    };
    const std::int64_t room = round_up(document.keys, kernels.key_panel);
    keys = AlignedFloats(room * dim);
    values = AlignedFloats(room * dim);
    kernels.pack_keys(stored(call.key), keys.data());
    kernels.pack_keys(stored(call.value), values.data());
    key_rows = pack(kernels, stored(call.key));
    key_gradient = zeros(document.keys * padded_dim);
    value_gradient = zeros(document.keys * padded_dim);
    if (!turns.present()) return;
    unturned = AlignedFloats(document.keys * dim);
    kernels.widen_rows(stored(call.key), 1.0f, unturned.data(), dim);
    key_sums = zeros(document.keys * padded_dim);
    for (std::int64_t i = 0; i < problem.group(); ++i) query_sums.push_back(zeros(document.queries * padded_dim));
  }

  /// Prepares the keys of a region of an offset map.
  void enter(std::size_t next, std::int64_t count) {
    region = next;
    if (!turns.present()) return;
    const AlignedFloats rows(count * dim);
    std::copy_n(unturned.data(), count * dim, rows.data());
    turns.turn_keys(region, {.count = count, .data = rows.data(), .stride = dim});
    const AttendKernels plain = attend_kernels(ElementType::float32, dim);
    const StoredRows from{.data = rows.data(), .stride = dim, .rows = count, .dim = dim};
    plain.pack_keys(from, keys.data());
    key_rows = pack(plain, from);
  }

  /// Adds what the region gave to the keys.
  void leave(std::int64_t count) {
    if (!turns.present()) return;
    turns.turn_keys(region, {.count = count, .data = key_gradient.data(), .stride = padded_dim}, Direction::inverse);
    for (std::int64_t i = 0; i < count * padded_dim; ++i) key_sums.data()[i] += key_gradient.data()[i];
    std::fill_n(key_gradient.data(), count * padded_dim, 0.0f);
  }

  AttendKernels kernels;
  std::int64_t dim, padded_dim;
  RegionTurns turns;
  std::size_t region = 0;
  AlignedFloats unturned;                 ///< [keys][dim], if offsets are remapped; then also:
  AlignedFloats key_sums;                 ///< [keys][padded dim], over the regions
  std::vector<AlignedFloats> query_sums;  ///< the same of queries, per query head
  AlignedFloats keys, values;             ///< columns of a tile
  PackedRows key_rows;
  AlignedFloats key_gradient, value_gradient;  ///< [keys][padded dim]
};

/// One query head against its key head.
class QueryHead {
 public:
  QueryHead(const Problem& problem, const AttentionGradientCall& call, const Document& document, std::int64_t head,
            KeyHead& keys, LearnedSums& learned)
      : problem_(problem),
        call_(call),
        document_(document),
        head_(head),
        dim_(keys.dim),
        padded_dim_(keys.padded_dim),
        block_keys_(block_keys(keys.kernels.key_panel)),
        stride_(block_keys_ + keys.kernels.key_panel),
        kernels_(keys.kernels),
        backward_(attend_backward_kernels(dim_)),
        k_(keys),
        learned_(learned),
        bias_(problem, document, head),
        relative_(problem, document, head, keys.kernels),
        bias_gradient_(problem, document, head, learned),
        number_gradient_(problem, call, document, head),
        relative_gradient_(problem, document, head, keys.kernels, learned),
        query_(document.queries * dim_),
        position_(relative_.present() ? document.queries * dim_ : 0),
        table_products_(block_rows * relative_.table_rows()),
        output_gradient_(document.queries * dim_),
        scores_(zeros(block_rows * stride_)),
        products_(zeros(block_rows * stride_)),
        slopes_(problem.call().soft_cap > 0 ? zeros(block_rows * stride_) : AlignedFloats()),
        query_gradient_(zeros(document.queries * padded_dim_)),
        through_relative_(relative_.present() ? zeros(document.queries * padded_dim_) : AlignedFloats()) {
    load_queries();
    load_outputs();
  }

  std::int64_t run() {
    std::int64_t tiles = 0;
    for (std::int64_t first = 0; first < document_.queries; first += block_rows) {
      const std::int64_t rows = std::min(block_rows, document_.queries - first);
      TileShape shape(problem_, document_, first, rows);
      relative_.make_products(rows, position_.data() + first * dim_, table_products_.data());
      for (std::int64_t key = 0; key < document_.keys; key += block_keys_) {
        const std::int64_t columns = std::min(block_keys_, document_.keys - key);
        const TilePlace tile{.first_query = first, .rows = rows, .first_key = key, .columns = columns};
        if (!shape.move_to(key, columns) || !enter_region(tile)) continue;
        ++tiles;
        run_tile(tile, shape);
      }
    }
    bias_gradient_.finish();
    number_gradient_.store();
    relative_gradient_.finish();
    store();
    return tiles;
  }

 private:
  StoredRows stored(const HeadsView& view) const {
    return {.data = Problem::row(view, document_.batch, document_.first_query, head_),
            .stride = view.token_stride,
            .rows = document_.queries,
            .dim = dim_};
  }
  StoredRows plain_rows(const AlignedFloats& rows) const {
    return {.data = rows.data(), .stride = dim_, .rows = document_.queries, .dim = dim_};
  }

  void load_queries() {
    if (relative_.present()) {
      relative_.make_queries({.first_query = 0, .rows = document_.queries}, query_.data(), position_.data());
    } else {
      const auto factor = static_cast<float>(problem_.scale() * log2_e);
      kernels_.widen_rows(stored(problem_.call().query), factor, query_.data(), dim_);
    }
    k_.turns.turn_queries(k_.region, {.count = document_.queries, .data = query_.data(), .stride = dim_});
    query_rows_ = pack(attend_kernels(ElementType::float32, dim_), plain_rows(query_));
  }

  // Returns whether the tile has pairs of this region; mixed_ says whether it has others too.
  bool enter_region(const TilePlace& tile) {
    mixed_ = false;
    if (!k_.turns.present()) return true;
    const std::uint32_t found = k_.turns.regions_of(tile, regions_), own = 1u << k_.region;
    mixed_ = found != own;
    return (found & own) != 0;
  }

  void hide_other_regions(const TilePlace& tile, float* scores) const {
    if (!mixed_) return;
    constexpr float hidden = -std::numeric_limits<float>::infinity();
    for (std::int64_t i = 0; i < tile.rows; ++i) {
      float* row = scores + i * stride_;
      if (document_.ids_advance) {
        const RegionTurns::Keys own = k_.turns.keys_of(k_.region, tile.first_query + i);
        const auto column = [&](std::int64_t key) {
          return std::clamp<std::int64_t>(key - tile.first_key, 0, tile.columns);
        };
        std::fill(row, row + column(own.begin), hidden);
        std::fill(row + column(std::max(own.begin, own.end)), row + tile.columns, hidden);
        continue;
      }
      const std::uint8_t* of = regions_.data() + i * tile.columns;
      for (std::int64_t c = 0; c < tile.columns; ++c) {
        if (of[c] != k_.region) row[c] = hidden;
      }
    }
  }

  // The gradient of the output, the means D, the log-sum-exp in base 2, and the gradient of the sink.
  void load_outputs() {
    kernels_.widen_rows(stored(call_.output_gradient), 1.0f, output_gradient_.data(), dim_);
    gradient_rows_ = pack(attend_kernels(ElementType::float32, dim_), plain_rows(output_gradient_));
    const AlignedFloats output(document_.queries * dim_);
    kernels_.widen_rows(stored(problem_.call().output), 1.0f, output.data(), dim_);
    const std::span<const float> sinks = problem_.call().sink_logits;
    for (std::int64_t i = 0; i < document_.queries; ++i) {
      double mean = 0;
      for (std::int64_t j = i * dim_; j < (i + 1) * dim_; ++j) {
        mean += static_cast<double>(output_gradient_.data()[j]) * static_cast<double>(output.data()[j]);
      }
      const auto lse = static_cast<double>(*problem_.log_sum_exp(document_.batch, head_, document_.first_query + i));
      mean_.push_back(static_cast<float>(mean));
      lse_.push_back(lse == -HUGE_VAL ? std::numeric_limits<float>::infinity() : static_cast<float>(lse * log2_e));
      if (sinks.empty() || lse == -HUGE_VAL || k_.region > 0) continue;
      const auto sink = static_cast<double>(sinks[static_cast<std::size_t>(head_)]);
      learned_.add_sink(head_, -std::exp(sink - lse) * mean);
    }
  }

  // Scores as attend() computes them; with a soft cap, their slopes too.
  void compute_scores(const TilePlace& tile, const TileShape& shape) {
    const double cap = problem_.call().soft_cap;
    const bool plain = cap == 0 && !relative_.present();
    const float* window = plain ? bias_.window(tile.first_query, tile.first_key) : nullptr;
    float* scores = scores_.data();
    kernels_.scores({.shape = shape.rows(),
                     .dim = dim_,
                     .query = query_.data() + tile.first_query * dim_,
                     .query_stride = dim_,
                     .keys = k_.keys.data() + tile.first_key * dim_,
                     .bias = window,
                     .scores = scores,
                     .stride = stride_});
    if (relative_.present()) {
      relative_.add(tile, {position_.data() + tile.first_query * dim_, table_products_.data(), nullptr}, scores,
                    stride_);
    }
    if (cap > 0) {
      const auto limit = static_cast<float>(cap * log2_e);
      kernels_.cap({.shape = shape.rows(), .scores = scores, .stride = stride_}, limit);
      for (std::int64_t i = 0; i < tile.rows * stride_; ++i) {
        const float part = scores[i] / limit;
        slopes_.data()[i] = (1 - part) * (1 + part);
      }
    }
    if (bias_.present() && window == nullptr) bias_.add(tile, scores, stride_);
    shape.hide_unseen(head_, scores, stride_);
    hide_other_regions(tile, scores);
  }

  void run_tile(const TilePlace& tile, const TileShape& place) {
    const TileRows shape = place.rows();
    const float* output_gradient = output_gradient_.data() + tile.first_query * dim_;
    compute_scores(tile, place);
    kernels_.scores({.shape = shape,
                     .dim = dim_,
                     .query = output_gradient,
                     .query_stride = dim_,
                     .keys = k_.values.data() + tile.first_key * dim_,
                     .scores = products_.data(),
                     .stride = stride_});
    relative_gradient_.add_products(tile, shape, output_gradient, products_.data(), stride_);
    backward_.weights({.shape = shape,
                       .scores = scores_.data(),
                       .products = products_.data(),
                       .stride = stride_,
                       .log_sum_exp = lse_.data() + tile.first_query,
                       .mean = mean_.data() + tile.first_query});
    add_transposed(tile, shape, scores_, gradient_rows_, k_.value_gradient);
    bias_gradient_.add(tile, shape, products_.data(), stride_);
    number_gradient_.add(tile, shape, products_.data(), stride_);
    if (slopes_.data() != nullptr) take_slopes(tile, shape);
    add_transposed(tile, shape, products_, query_rows_, k_.key_gradient);
    kernels_.values({.shape = shape,
                     .dim = padded_dim_,
                     .weights = products_.data(),
                     .stride = stride_,
                     .values = k_.key_rows.data.data() + tile.first_key * kernels_.value_panel,
                     .panel_stride = k_.key_rows.panel_stride,
                     .output = query_gradient_.data() + tile.first_query * padded_dim_});
    if (!relative_.present()) return;
    relative_gradient_.add({.place = tile,
                            .shape = shape,
                            .weights = scores_.data(),
                            .gradients = products_.data(),
                            .stride = stride_,
                            .position = position_.data() + tile.first_query * dim_,
                            .output_gradient = output_gradient,
                            .query_gradient = through_relative_.data() + tile.first_query * padded_dim_,
                            .key_gradient = k_.key_gradient.data() + tile.first_key * padded_dim_});
  }

  void take_slopes(const TilePlace& tile, const TileRows& shape) {
    for (std::int64_t i = 0; i < tile.rows; ++i) {
      const std::int64_t begin = shape.begin == nullptr ? 0 : shape.begin[i];
      const std::int64_t end = shape.end == nullptr ? shape.columns : shape.end[i];
      for (std::int64_t c = begin; c < end; ++c) products_.data()[i * stride_ + c] *= slopes_.data()[i * stride_ + c];
    }
  }

  void add_transposed(const TilePlace& tile, const TileRows& shape, const AlignedFloats& weights,
                      const PackedRows& rows, const AlignedFloats& sums) const {
    backward_.transposed({.shape = shape,
                          .dim = padded_dim_,
                          .weights = weights.data(),
                          .stride = stride_,
                          .values = rows.data.data() + tile.first_query * kernels_.value_panel,
                          .panel_stride = rows.panel_stride,
                          .output = sums.data() + tile.first_key * padded_dim_});
  }

  void store() {
    auto factor = static_cast<float>(problem_.scale());
    if (relative_.present()) {
      join_relative();
      factor = 1;
    }
    if (k_.turns.present() && !join_regions()) return;
    for (std::int64_t i = 0; i < document_.queries; ++i) {
      kernels_.store_row(query_gradient_.data() + i * padded_dim_, factor, dim_,
                         Problem::row(call_.query_gradient, document_.batch, document_.first_query + i, head_));
    }
  }

  // Adds what this region gave to the queries; with the last one, query_gradient_ is the sum of all.
  bool join_regions() {
    float* sums = k_.query_sums[static_cast<std::size_t>(head_ % problem_.group())].data();
    k_.turns.turn_queries(k_.region,
                          {.count = document_.queries, .data = query_gradient_.data(), .stride = padded_dim_},
                          Direction::inverse);
    for (std::int64_t i = 0; i < document_.queries; ++i) {
      float* row = query_gradient_.data() + i * padded_dim_;
      for (std::int64_t j = 0; j < dim_; ++j) row[j] = sums[i * padded_dim_ + j] += row[j];
    }
    return k_.region + 1 == k_.turns.regions();
  }

  // A query is multiplied by keys (with u added) and by relative keys (with v added).
  void join_relative() {
    for (std::int64_t i = 0; i < document_.queries; ++i) {
      for (std::int64_t j = 0; j < dim_; ++j) {
        float& content = query_gradient_.data()[i * padded_dim_ + j];
        const auto by_key = static_cast<double>(content);
        const double by_row = static_cast<double>(through_relative_.data()[i * padded_dim_ + j]) / log2_e;
        learned_.add_u(head_, j, by_key * problem_.relative_scale());
        learned_.add_v(head_, j, by_row);
        content = static_cast<float>(by_key * problem_.scale() + by_row);
      }
    }
  }

  const Problem& problem_;
  const AttentionGradientCall& call_;
  const Document& document_;
  std::int64_t head_, dim_, padded_dim_, block_keys_, stride_;
  const AttendKernels& kernels_;
  AttendBackwardKernels backward_;
  KeyHead& k_;
  LearnedSums& learned_;
  BiasTerm bias_;
  RelativeTerm relative_;
  BiasGradient bias_gradient_;
  NumberGradient number_gradient_;
  RelativeGradient relative_gradient_;
  AlignedFloats query_, position_;  ///< [queries][dim]
  AlignedFloats table_products_;    ///< of a block of queries
  AlignedFloats output_gradient_;   ///< [queries][dim]
  PackedRows query_rows_, gradient_rows_;
  std::vector<float> mean_, lse_;
  AlignedFloats scores_, products_, slopes_;         ///< a tile each
  AlignedFloats query_gradient_, through_relative_;  ///< [queries][padded dim]
  bool mixed_ = false;                               ///< a tile has pairs of several regions
  std::vector<std::uint8_t> regions_;                ///< of its pairs, if ids do not advance
};

}  // namespace

std::int64_t backward_in_tiles(const Problem& problem, const AttentionGradientCall& call, const Document& document,
                               std::int64_t key_head, LearnedSums& learned) {
  KeyHead keys(problem, document, key_head);
  std::int64_t tiles = 0;
  for (std::size_t region = 0; region < keys.turns.regions(); ++region) {
    keys.enter(region, document.keys);
    for (std::int64_t head = key_head * problem.group(); head < (key_head + 1) * problem.group(); ++head) {
      tiles += QueryHead(problem, call, document, head, keys, learned).run();
    }
    keys.leave(document.keys);
  }
  const auto store = [&](const AlignedFloats& rows, float factor, const HeadsView& view) {
    for (std::int64_t key = 0; key < document.keys; ++key) {
      keys.kernels.store_row(rows.data() + key * keys.padded_dim, factor, keys.dim,
                             Problem::row(view, document.batch, document.first_key + key, key_head));
    }
  };
  store(keys.turns.present() ? keys.key_sums : keys.key_gradient, static_cast<float>(1 / log2_e), call.key_gradient);
  store(keys.value_gradient, 1.0f, call.value_gradient);
  return tiles;
}

}  // namespace locus
