// SPDX-License-Identifier: Apache-2.0
// Relative keys in tiles: the block of queries is multiplied by the rows of all offsets in the tile, with the same
// product as for keys, and the result is read along diagonals:
//
//   score(i, c) += G(i, c - i + rows - 1),  G = queries . rows of offsets [first - rows + 1, first + columns)
//
// Relative values work in reverse: weights are arranged along diagonals, then multiplied by the rows as values.
//
// Where ids do not advance (grids, trees), a block of queries is multiplied by every row of the tables once, and each
// pair picks its product by index. Only tables too large for that, and projected rows, are computed pair by pair.
#include <algorithm>
#include <vector>

#include "attention/position_terms.h"
#include "locus/error.h"

namespace locus {

RelativeTerm::RelativeTerm(const Problem& problem, const Document& document, std::int64_t head,
                           const AttendKernels& kernels)
    : problem_(problem), document_(document), head_(head), kernels_(kernels), keys_(problem.relative()) {
  if (!present() || document.keys == 0) return;
  if (keys_->counted || !document.ids_advance || !problem.call().encoding->claims().has(Claim::relative)) {
    tables_ = pack_tables(*keys_, head, kernels);
    return;
  }
  offsets_ = document.queries + document.keys - 1;
  packed_keys_ = pack(RowUse::key);
  if (!keys_->query_table.data.empty()) packed_meeting_ = pack(RowUse::meeting);
  if (has_values()) packed_values_ = pack(RowUse::value);
}

// Row t belongs to the offset (key index - query index) = t - (queries - 1).
AlignedFloats RelativeTerm::pack(RowUse use) const {
  const bool values = use == RowUse::value;
  const std::int64_t dim = problem_.head_dim();
  const std::int64_t room = round_up(offsets_, kernels_.key_panel);
  const Position first = document_.key_ids[0] - document_.query_ids.back();
  const bool future_unseen = problem_.future_unseen();
  AlignedFloats packed(room * round_up(dim, kernels_.value_panel));
  RelativeRows source(problem_, head_, use);
  const AttendKernels plain = attend_kernels(ElementType::float32);
  AlignedFloats block(kernels_.key_panel * dim);
  for (std::int64_t t = 0; t < offsets_; t += kernels_.key_panel) {
    const std::int64_t count = std::min(kernels_.key_panel, offsets_ - t);
    std::fill_n(block.data(), kernels_.key_panel * dim, 0.0f);
    for (std::int64_t i = 0; i < count; ++i) {
      if (future_unseen && first + t + i > 0) break;
      try {
        const double* row = source.row(0, first + t + i);
        for (std::int64_t j = 0; j < dim; ++j) block.data()[i * dim + j] = static_cast<float>(row[j]);
      } catch (const Error&) {
        // An offset without a row: no visible pair has it (such calls are refused), so zero is correct.
      }
    }
    const StoredRows rows{.data = block.data(), .stride = dim, .rows = count, .dim = dim};
    if (values) {
      plain.pack_values(rows, kernels_.value_panel, packed.data() + t * kernels_.value_panel,
                        room * kernels_.value_panel);
    } else {
      plain.pack_keys(rows, packed.data() + t * dim);
    }
  }
  return packed;
}

void RelativeTerm::make_queries(const TilePlace& tile, float* content, float* position) const {
  const std::int64_t dim = problem_.head_dim();
  const double scale = problem_.scale() * log2_e;
  const double term_scale = keys_->scaled ? scale : log2_e;
  const AttentionCall& call = problem_.call();
  const bool biased = !keys_->u.data.empty();
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    const StoredRows from{
        .data = Problem::row(call.query, document_.batch, document_.first_query + tile.first_query + i, head_),
        .stride = 0,
        .rows = 1,
        .dim = dim};
    float* c = content + i * dim;
    float* p = position + i * dim;
    kernels_.widen_rows(from, 1.0f, p, dim);
    for (std::int64_t j = 0; j < dim; ++j) {
      const auto at = static_cast<std::size_t>(j);
      const double q = static_cast<double>(p[j]);
      const double u = biased ? static_cast<double>(keys_->u.row(head_)[at]) : 0;
      const double v = biased ? static_cast<double>(keys_->v.row(head_)[at]) : 0;
      c[j] = static_cast<float>(q * scale + u * term_scale);
      p[j] = static_cast<float>((q + v) * term_scale);
    }
  }
}

// The tile's keys, scaled as the position term.
float* RelativeTerm::key_rows(const TilePlace& tile, AlignedFloats& room) const {
  const std::int64_t dim = problem_.head_dim();
  room = AlignedFloats(tile.columns * dim);
  std::vector<std::byte> copied;
  const TypedRows from =
      problem_.rows(RowSupply::Part::keys, document_, head_ / problem_.group(), tile.first_key, tile.columns, copied);
  const double scale = keys_->scaled ? problem_.scale() * log2_e : log2_e;
  attend_kernels(from.type).widen_rows(from.rows, static_cast<float>(scale), room.data(), dim);
  return room.data();
}

void RelativeTerm::make_products(std::int64_t rows, const float* position, float* products) const {
  if (tables_.room == 0) return;
  kernels_.scores({.shape = {.rows = rows, .columns = tables_.room},
                   .dim = problem_.head_dim(),
                   .query = position,
                   .query_stride = problem_.head_dim(),
                   .keys = tables_.rows.data(),
                   .scores = products,
                   .stride = tables_.room});
}

void RelativeTerm::add(const TilePlace& tile, const PositionQueries& position, float* scores,
                       std::int64_t stride) const {
  if (offsets_ > 0) return add_window(tile, position.queries, scores, stride);
  if (tables_.room > 0) return add_tables(tile, position.products, scores, stride);
  add_pairs(tile, position.queries, scores, stride);
}

void RelativeTerm::add_tables(const TilePlace& tile, const float* products, float* scores, std::int64_t stride) const {
  AlignedFloats rows, met;
  if (tables_.meeting_room > 0) {
    met = AlignedFloats(tile.columns * tables_.meeting_room);
    kernels_.scores({.shape = {.rows = tile.columns, .columns = tables_.meeting_room},
                     .dim = problem_.head_dim(),
                     .query = key_rows(tile, rows),
                     .query_stride = problem_.head_dim(),
                     .keys = tables_.meeting.data(),
                     .scores = met.data(),
                     .stride = tables_.meeting_room});
  }
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    const std::int64_t query = tile.first_query + i;
    const Position query_id = document_.query_ids[static_cast<std::size_t>(query)];
    const float* product = products + i * tables_.room;
    for (std::int64_t c = 0; c < tile.columns; ++c) {
      const std::int64_t key = tile.first_key + c;
      if (keys_->refuses && !problem_.sees(document_, head_, query, key)) continue;
      const Position key_id = document_.key_ids[static_cast<std::size_t>(key)];
      const std::int64_t index = keys_->index(query_id, key_id);
      float sum = product[index];
      if (keys_->column_index) sum += product[tables_.columns_from + keys_->column_index(query_id, key_id)];
      if (met.data() != nullptr) sum += met.data()[c * tables_.meeting_room + index];
      scores[i * stride + c] += sum;
    }
  }
}

void RelativeTerm::add_window(const TilePlace& tile, const float* position, float* scores, std::int64_t stride) const {
  const std::int64_t dim = problem_.head_dim();
  // The window of the tile, aligned down to a whole panel.
  const std::int64_t first = tile.first_key - tile.first_query - tile.rows + document_.queries;
  const std::int64_t aligned = first / kernels_.key_panel * kernels_.key_panel;
  const std::int64_t width = first - aligned + tile.columns + tile.rows - 1;
  const std::int64_t room = round_up(width, kernels_.key_panel);
  AlignedFloats products(std::max(tile.rows, tile.columns) * room);
  const auto meet = [&](const float* left, std::int64_t rows, const AlignedFloats& packed) {
    kernels_.scores({.shape = {.rows = rows, .columns = width},
                     .dim = dim,
                     .query = left,
                     .query_stride = dim,
                     .keys = packed.data() + aligned * dim,
                     .scores = products.data(),
                     .stride = room});
  };
  const auto column = [&](std::int64_t i, std::int64_t c) { return first - aligned + tile.rows - 1 - i + c; };
  meet(position, tile.rows, packed_keys_);
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    const float* product = products.data() + i * room + column(i, 0);
    for (std::int64_t c = 0; c < tile.columns; ++c) scores[i * stride + c] += product[c];
  }
  if (!keys_->meets_keys()) return;
  AlignedFloats rows;
  meet(key_rows(tile, rows), tile.columns, packed_meeting_.data() == nullptr ? packed_keys_ : packed_meeting_);
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    for (std::int64_t c = 0; c < tile.columns; ++c) {
      scores[i * stride + c] += products.data()[c * room + column(i, c)];
    }
  }
}

void RelativeTerm::add_pairs(const TilePlace& tile, const float* position, float* scores, std::int64_t stride) const {
  const std::int64_t dim = problem_.head_dim();
  RelativeRows source(problem_, head_, RowUse::key), meeting_source(problem_, head_, RowUse::meeting);
  AlignedFloats room;
  const float* keys = keys_->meets_keys() ? key_rows(tile, room) : nullptr;
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    for (std::int64_t c = 0; c < tile.columns; ++c) {
      const std::int64_t query = tile.first_query + i, key = tile.first_key + c;
      if (!problem_.sees(document_, head_, query, key)) continue;
      const Position query_id = document_.query_ids[static_cast<std::size_t>(query)];
      const Position key_id = document_.key_ids[static_cast<std::size_t>(key)];
      const double* row = source.row(query_id, key_id);
      const double* meeting = keys == nullptr ? nullptr : meeting_source.row(query_id, key_id);
      double sum = 0;
      for (std::int64_t j = 0; j < dim; ++j) {
        sum += row[j] * static_cast<double>(position[i * dim + j]);
        if (keys != nullptr) sum += meeting[j] * static_cast<double>(keys[c * dim + j]);
      }
      scores[i * stride + c] += static_cast<float>(sum);
    }
  }
}

void RelativeTerm::add_values(const TilePlace& tile, const float* weights, std::int64_t stride, const TileRows& shape,
                              float* output, std::int64_t padded_dim) const {
  const auto begin_of = [&](std::int64_t i) { return shape.begin == nullptr ? 0 : std::int64_t{shape.begin[i]}; };
  const auto end_of = [&](std::int64_t i) { return shape.end == nullptr ? shape.columns : std::int64_t{shape.end[i]}; };
  if (offsets_ == 0) {
    RelativeRows source(problem_, head_, RowUse::value);
    for (std::int64_t i = 0; i < tile.rows; ++i) {
      for (std::int64_t c = begin_of(i); c < end_of(i); ++c) {
        const float weight = weights[i * stride + c];
        const std::int64_t query = tile.first_query + i, key = tile.first_key + c;
        if (weight == 0 || !problem_.sees(document_, head_, query, key)) continue;
        const double* row = source.row(document_.query_ids[static_cast<std::size_t>(query)],
                                       document_.key_ids[static_cast<std::size_t>(key)]);
        for (std::int64_t j = 0; j < problem_.head_dim(); ++j) {
          output[i * padded_dim + j] += weight * static_cast<float>(row[j]);
        }
      }
    }
    return;
  }
  const std::int64_t first = tile.first_key - tile.first_query - tile.rows + document_.queries;
  const std::int64_t width = tile.columns + tile.rows - 1;
  AlignedFloats diagonals(tile.rows * width);
  std::fill_n(diagonals.data(), tile.rows * width, 0.0f);
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    float* row = diagonals.data() + i * width + tile.rows - 1 - i;
    for (std::int64_t c = begin_of(i); c < end_of(i); ++c) row[c] = weights[i * stride + c];
  }
  kernels_.values({.shape = {.rows = tile.rows, .columns = width},
                   .dim = padded_dim,
                   .weights = diagonals.data(),
                   .stride = width,
                   .values = packed_values_.data() + first * kernels_.value_panel,
                   .panel_stride = round_up(offsets_, kernels_.key_panel) * kernels_.value_panel,
                   .output = output});
}

}  // namespace locus
