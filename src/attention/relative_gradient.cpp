// SPDX-License-Identifier: Apache-2.0
// Gradients of relative keys in tiles. Score gradients are arranged along diagonals, like the weights in
// relative_term.cpp:
//
//   G(i, c - i + rows - 1) = ds(i, c),  then  dq += G . rows,  d rows += G^T . queries
//
// and the same with columns for rows if the row is multiplied by the key too. Rows are stored multiplied by the
// term's scale and log2 e, like the queries; the sums are divided by log2 e at the end.
#include <algorithm>

#include "attention/term_gradients.h"
#include "locus/error.h"

namespace locus {
namespace {

std::int64_t begin_of(const TileRows& shape, std::int64_t i) { return shape.begin == nullptr ? 0 : shape.begin[i]; }
std::int64_t end_of(const TileRows& shape, std::int64_t i) {
  return shape.end == nullptr ? shape.columns : shape.end[i];
}

}  // namespace

RelativeGradient::RelativeGradient(const Problem& problem, const Document& document, std::int64_t head,
                                   const AttendKernels& kernels, LearnedSums& learned)
    : problem_(problem),
      document_(document),
      head_(head),
      dim_(problem.head_dim()),
      padded_dim_(round_up(dim_, kernels.value_panel)),
      kernels_(kernels),
      plain_(attend_kernels(ElementType::float32, dim_)),
      backward_(attend_backward_kernels(dim_)),
      learned_(learned),
      keys_(problem.relative()) {
  if (keys_ == nullptr || document.keys == 0) return;
  values_ = !keys_->value_table.data.empty();
  if (!document.ids_advance || !problem.call().encoding->claims().has(Claim::relative)) return;
  offsets_ = document.queries + document.keys - 1;
  const auto factor = static_cast<float>(problem.relative_scale() * log2_e);
  key_rows_ = pack_rows(RowUse::key, factor);
  key_row_gradient_ = zeros(offsets_ * padded_dim_);
  if (keys_->meets_keys()) {
    meeting_rows_ = pack_rows(RowUse::meeting, factor);
    meeting_row_gradient_ = zeros(offsets_ * padded_dim_);
  }
  if (!values_) return;
  value_rows_ = pack_rows(RowUse::value, 1.0f);
  value_row_gradient_ = zeros(offsets_ * padded_dim_);
}

// Row t belongs to the offset (key index - query index) = t - (queries - 1).
AlignedFloats RelativeGradient::pack_rows(RowUse use, float factor) const {
  const std::int64_t room = round_up(offsets_, kernels_.key_panel);
  const Position first = document_.key_ids[0] - document_.query_ids.back();
  const bool future_unseen = problem_.future_unseen();
  const AlignedFloats rows = zeros(offsets_ * dim_);
  RelativeRows source(problem_, head_, use);
  for (std::int64_t t = 0; t < offsets_; ++t) {
    if (future_unseen && first + t > 0) break;
    try {
      const double* row = source.row(0, first + t);
      for (std::int64_t j = 0; j < dim_; ++j) rows.data()[t * dim_ + j] = static_cast<float>(row[j]) * factor;
    } catch (const Error&) {
      // An offset without a row: no visible pair has it (such calls are refused), so zero is correct.
    }
  }
  AlignedFloats packed = zeros(room * padded_dim_);
  const StoredRows from{.data = rows.data(), .stride = dim_, .rows = offsets_, .dim = dim_};
  if (use == RowUse::value) {
    plain_.pack_keys(from, packed.data());
  } else {
    plain_.pack_values(from, kernels_.value_panel, packed.data(), room * kernels_.value_panel);
  }
  return packed;
}

// The index of the row of the tile's first diagonal.
std::int64_t RelativeGradient::first_offset(const TilePlace& tile) const {
  return tile.first_key - tile.first_query - tile.rows + document_.queries;
}

// The tile's keys, scaled as the position term, in base 2.
AlignedFloats RelativeGradient::tile_keys(const TilePlace& tile) const {
  const HeadsView& key = problem_.call().key;
  AlignedFloats rows(tile.columns * dim_);
  const StoredRows from{
      .data = Problem::row(key, document_.batch, document_.first_key + tile.first_key, head_ / problem_.group()),
      .stride = key.token_stride,
      .rows = tile.columns,
      .dim = dim_};
  kernels_.widen_rows(from, static_cast<float>(problem_.relative_scale() * log2_e), rows.data(), dim_);
  return rows;
}

void RelativeGradient::add_products(const TilePlace& tile, const TileRows& shape, const float* output_gradient,
                                    float* products, std::int64_t stride) const {
  if (!values_) return;
  if (offsets_ == 0) {
    RelativeRows source(problem_, head_, RowUse::value);
    for (std::int64_t i = 0; i < tile.rows; ++i) {
      for (std::int64_t c = begin_of(shape, i); c < end_of(shape, i); ++c) {
        const std::int64_t query = tile.first_query + i, key = tile.first_key + c;
        if (!problem_.sees(document_, head_, query, key)) continue;
        const double* row = source.row(document_.query_ids[static_cast<std::size_t>(query)],
                                       document_.key_ids[static_cast<std::size_t>(key)]);
        double sum = 0;
        for (std::int64_t j = 0; j < dim_; ++j) sum += row[j] * static_cast<double>(output_gradient[i * dim_ + j]);
        products[i * stride + c] += static_cast<float>(sum);
      }
    }
    return;
  }
  // The window of the tile, aligned down to a whole panel.
  const std::int64_t first = first_offset(tile);
  const std::int64_t aligned = first / kernels_.key_panel * kernels_.key_panel;
  const std::int64_t width = first - aligned + tile.columns + tile.rows - 1;
  const std::int64_t room = round_up(width, kernels_.key_panel);
  const AlignedFloats met(tile.rows * room);
  kernels_.scores({.shape = {.rows = tile.rows, .columns = width},
                   .dim = dim_,
                   .query = output_gradient,
                   .query_stride = dim_,
                   .keys = value_rows_.data() + aligned * dim_,
                   .scores = met.data(),
                   .stride = room});
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    const float* row = met.data() + i * room + first - aligned + tile.rows - 1 - i;
    for (std::int64_t c = begin_of(shape, i); c < end_of(shape, i); ++c) products[i * stride + c] += row[c];
  }
}

void RelativeGradient::add(const RelativeTile& tile) {
  if (keys_ == nullptr) return;
  if (offsets_ == 0) return add_pairs(tile);
  add_window(tile);
  if (keys_->meets_keys()) add_meeting_keys(tile);
}

void RelativeGradient::add_window(const RelativeTile& tile) {
  const TilePlace& place = tile.place;
  const std::int64_t first = first_offset(place);
  const std::int64_t width = place.columns + place.rows - 1;
  const AlignedFloats diagonals(place.rows * width);
  const AlignedFloats packed(place.rows * padded_dim_);
  const std::int64_t packed_stride = place.rows * kernels_.value_panel;
  std::vector<std::int32_t> begin, end;
  for (std::int64_t i = 0; i < place.rows; ++i) {
    begin.push_back(static_cast<std::int32_t>(place.rows - 1 - i + begin_of(tile.shape, i)));
    end.push_back(static_cast<std::int32_t>(place.rows - 1 - i + end_of(tile.shape, i)));
  }
  const TileRows shape{.rows = place.rows, .columns = width, .begin = begin.data(), .end = end.data()};
  const auto lay = [&](const float* values) {
    std::fill_n(diagonals.data(), place.rows * width, 0.0f);
    for (std::int64_t i = 0; i < place.rows; ++i) {
      const std::int64_t from = begin_of(tile.shape, i), count = end_of(tile.shape, i) - from;
      if (count > 0) {
        std::copy_n(values + i * tile.stride + from, count,
                    diagonals.data() + i * width + begin[static_cast<std::size_t>(i)]);
      }
    }
  };
  const auto sum_rows = [&](const float* left, const AlignedFloats& sums) {
    plain_.pack_values({.data = left, .stride = dim_, .rows = place.rows, .dim = dim_}, kernels_.value_panel,
                       packed.data(), packed_stride);
    backward_.transposed({.shape = shape,
                          .dim = padded_dim_,
                          .weights = diagonals.data(),
                          .stride = width,
                          .values = packed.data(),
                          .panel_stride = packed_stride,
                          .output = sums.data() + first * padded_dim_});
  };
  lay(tile.gradients);
  kernels_.values({.shape = shape,
                   .dim = padded_dim_,
                   .weights = diagonals.data(),
                   .stride = width,
                   .values = key_rows_.data() + first * kernels_.value_panel,
                   .panel_stride = round_up(offsets_, kernels_.key_panel) * kernels_.value_panel,
                   .output = tile.query_gradient});
  sum_rows(tile.position, key_row_gradient_);
  if (!values_) return;
  lay(tile.weights);
  sum_rows(tile.output_gradient, value_row_gradient_);
}

void RelativeGradient::add_meeting_keys(const RelativeTile& tile) {
  const TilePlace& place = tile.place;
  const std::int64_t first = first_offset(place);
  const std::int64_t width = place.columns + place.rows - 1;
  const AlignedFloats diagonals = zeros(place.columns * width);
  for (std::int64_t i = 0; i < place.rows; ++i) {
    for (std::int64_t c = begin_of(tile.shape, i); c < end_of(tile.shape, i); ++c) {
      diagonals.data()[c * width + place.rows - 1 - i + c] = tile.gradients[i * tile.stride + c];
    }
  }
  const TileRows shape{.rows = place.columns, .columns = width};
  kernels_.values({.shape = shape,
                   .dim = padded_dim_,
                   .weights = diagonals.data(),
                   .stride = width,
                   .values = meeting_rows_.data() + first * kernels_.value_panel,
                   .panel_stride = round_up(offsets_, kernels_.key_panel) * kernels_.value_panel,
                   .output = tile.key_gradient});
  const AlignedFloats keys = tile_keys(place);
  const std::int64_t packed_stride = place.columns * kernels_.value_panel;
  const AlignedFloats packed(place.columns * padded_dim_);
  plain_.pack_values({.data = keys.data(), .stride = dim_, .rows = place.columns, .dim = dim_}, kernels_.value_panel,
                     packed.data(), packed_stride);
  backward_.transposed({.shape = shape,
                        .dim = padded_dim_,
                        .weights = diagonals.data(),
                        .stride = width,
                        .values = packed.data(),
                        .panel_stride = packed_stride,
                        .output = meeting_row_gradient_.data() + first * padded_dim_});
}

void RelativeGradient::add_pairs(const RelativeTile& tile) {
  const TilePlace& place = tile.place;
  RelativeRows source(problem_, head_, RowUse::key), meeting_source(problem_, head_, RowUse::meeting);
  const AlignedFloats keys = tile_keys(place);
  const double factor = problem_.relative_scale() * log2_e;
  std::vector<double> of_key(static_cast<std::size_t>(dim_)), of_meeting(of_key), of_value(of_key);
  for (std::int64_t i = 0; i < place.rows; ++i) {
    for (std::int64_t c = begin_of(tile.shape, i); c < end_of(tile.shape, i); ++c) {
      const std::int64_t query = place.first_query + i, key = place.first_key + c;
      const double weight = static_cast<double>(tile.weights[i * tile.stride + c]);
      const double ds = static_cast<double>(tile.gradients[i * tile.stride + c]);
      if (weight == 0) continue;  // masked, or without effect
      const Position query_id = document_.query_ids[static_cast<std::size_t>(query)];
      const Position key_id = document_.key_ids[static_cast<std::size_t>(key)];
      const double* row = source.row(query_id, key_id);
      const double* meeting = keys_->meets_keys() ? meeting_source.row(query_id, key_id) : nullptr;
      for (std::int64_t j = 0; j < dim_; ++j) {
        tile.query_gradient[i * padded_dim_ + j] += static_cast<float>(ds * row[j] * factor);
        of_key[static_cast<std::size_t>(j)] = ds * static_cast<double>(tile.position[i * dim_ + j]) / log2_e;
        of_value[static_cast<std::size_t>(j)] = weight * static_cast<double>(tile.output_gradient[i * dim_ + j]);
        if (meeting == nullptr) continue;
        tile.key_gradient[c * padded_dim_ + j] += static_cast<float>(ds * meeting[j] * factor);
        of_meeting[static_cast<std::size_t>(j)] = ds * static_cast<double>(keys.data()[c * dim_ + j]) / log2_e;
      }
      if (learned_.wants_key_rows()) learned_.add_key_row(head_, query_id, key_id, of_key.data());
      if (meeting != nullptr && learned_.wants_meeting_rows()) {
        learned_.add_meeting_row(head_, query_id, key_id, of_meeting.data());
      }
      if (learned_.wants_value_rows()) learned_.add_value_row(head_, query_id, key_id, of_value.data());
    }
  }
}

void RelativeGradient::finish() {
  if (offsets_ == 0) return;
  const Position first = document_.key_ids[0] - document_.query_ids.back();
  std::vector<double> row(static_cast<std::size_t>(dim_));
  const auto take = [&](const AlignedFloats& sums, std::int64_t t, double factor) {
    bool any = false;  // an offset without a visible pair may have no row
    for (std::int64_t j = 0; j < dim_; ++j) {
      row[static_cast<std::size_t>(j)] = static_cast<double>(sums.data()[t * padded_dim_ + j]) * factor;
      any |= row[static_cast<std::size_t>(j)] != 0;
    }
    return any;
  };
  for (std::int64_t t = 0; t < offsets_; ++t) {
    if (learned_.wants_key_rows() && take(key_row_gradient_, t, 1 / log2_e)) {
      learned_.add_key_row(head_, 0, first + t, row.data());
    }
    if (keys_->meets_keys() && learned_.wants_meeting_rows() && take(meeting_row_gradient_, t, 1 / log2_e)) {
      learned_.add_meeting_row(head_, 0, first + t, row.data());
    }
    if (learned_.wants_value_rows() && take(value_row_gradient_, t, 1.0)) {
      learned_.add_value_row(head_, 0, first + t, row.data());
    }
  }
}

}  // namespace locus
