// SPDX-License-Identifier: Apache-2.0
#include "mpi/ring_sample.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "locus/doctor/example_encodings.h"
#include "locus/rotate.h"

namespace locus::tools {
namespace {

TokenRows random_rows(ElementType type, std::int64_t tokens, std::int64_t heads, std::int64_t dim,
                      std::mt19937_64& random) {
  TokenRows rows(type, tokens, heads, dim);
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t j = 0; j < dim; ++j) rows.set(t, h, j, static_cast<double>(random() >> 40) * 0x1p-23 - 1);
    }
  }
  return rows;
}

/// The rows of these tokens; NaN for padding (-1).
TokenRows rows_of(const TokenRows& all, std::span<const std::int64_t> tokens) {
  TokenRows own(all.type, std::ssize(tokens), all.heads, all.dim);
  for (std::int64_t i = 0; i < own.tokens; ++i) {
    const std::int64_t token = tokens[static_cast<std::size_t>(i)];
    for (std::int64_t h = 0; h < all.heads; ++h) {
      for (std::int64_t j = 0; j < all.dim; ++j) {
        own.set(i, h, j, token < 0 ? std::numeric_limits<double>::quiet_NaN() : all.at(token, h, j));
      }
    }
  }
  return own;
}

}  // namespace

TokenRows::TokenRows(ElementType element, std::int64_t count, std::int64_t head_count, std::int64_t width)
    : type(element), tokens(count), heads(head_count), dim(width) {
  bytes.resize(static_cast<std::size_t>(tokens * heads * dim) * size_of(type));
}

HeadsView TokenRows::view() {
  return {.data = bytes.empty() ? nullptr : bytes.data(),
          .type = type,
          .batch = 1,
          .tokens = tokens,
          .heads = heads,
          .head_dim = dim,
          .batch_stride = tokens * heads * dim,
          .token_stride = heads * dim,
          .head_stride = dim};
}

double TokenRows::at(std::int64_t token, std::int64_t head, std::int64_t j) const {
  const auto read = [&]<class T>(T element) {
    std::memcpy(&element, bytes.data() + static_cast<std::size_t>((token * heads + head) * dim + j) * sizeof element,
                sizeof element);
    return element;
  };
  switch (type) {
    case ElementType::float32:
      return static_cast<double>(read(0.0f));
    case ElementType::float64:
      return read(0.0);
    case ElementType::bfloat16:
      return static_cast<double>(to_float(read(BFloat16())));
    case ElementType::float16:
      return static_cast<double>(to_float(read(Float16())));
  }
  return 0;
}

void TokenRows::set(std::int64_t token, std::int64_t head, std::int64_t j, double value) {
  const auto write = [&](auto element) {
    std::memcpy(bytes.data() + static_cast<std::size_t>((token * heads + head) * dim + j) * sizeof element, &element,
                sizeof element);
  };
  if (type == ElementType::float32) write(static_cast<float>(value));
  if (type == ElementType::float64) write(value);
  if (type == ElementType::bfloat16) write(to_bfloat16(value));
  if (type == ElementType::float16) write(to_float16(value));
}

RingShape shape_for(const Encoding& encoding, std::int64_t longest) {
  const PositionRange range = encoding.position_range();
  longest = std::min<std::int64_t>(longest, range.last - std::max<Position>(range.first, 0) + 1);
  RingShape shape{.lengths = {}, .heads = 4, .key_heads = 2, .head_dim = 16};
  if (const auto* rotation = std::get_if<Rotation>(&encoding.term())) {
    shape.head_dim = rotation->head_dim;
    if (rotation->mix) shape = {{}, 2 * rotation->mix->heads, rotation->mix->heads, rotation->head_dim};
  }
  if (const auto* bias = std::get_if<ScoreBias>(&encoding.term())) shape.heads = bias->heads;
  if (const auto* keys = std::get_if<RelativeKeys>(&encoding.term())) {
    shape.heads = keys->heads;
    shape.head_dim = keys->head_dim;
    longest = tokens_in_reach(*keys, longest);
    // The reference projects a sinusoid for each pair of tokens.
    const auto weights = static_cast<std::int64_t>(keys->w_r.data.size());
    while (longest > 8 && weights * longest * longest > 20'000'000) --longest;
  }
  if (shape.heads % 2 != 0) shape.key_heads = 1;
  shape.lengths = {std::max<std::int64_t>(longest / 2, 1), longest, 1, std::max<std::int64_t>(longest / 3, 1)};
  return shape;
}

RingSample::RingSample(const Encoding& encoding, RingShape shape, ElementType type, std::uint64_t seed)
    : encoding_(encoding), shape_(std::move(shape)), start_(std::max<Position>(encoding.position_range().first, 0)) {
  const std::int64_t longest = *std::max_element(shape_.lengths.begin(), shape_.lengths.end());
  encoding_ = encoding.at_length(start_ + longest);
  boundaries_.push_back(0);
  for (const std::int64_t length : shape_.lengths) boundaries_.push_back(boundaries_.back() + length);
  ids_ = positions::packed(shape_.lengths).ids;
  for (Position& id : ids_) id += start_;
  std::mt19937_64 random(seed);
  const std::int64_t n = boundaries_.back();
  raw_query_ = random_rows(type, n, shape_.heads, shape_.head_dim, random);
  raw_key_ = random_rows(type, n, shape_.key_heads, shape_.head_dim, random);
  raw_value_ = random_rows(type, n, shape_.key_heads, shape_.head_dim, random);
  query = raw_query_;
  key = raw_key_;
  value = raw_value_;
  rotate_rows(query, key, value, planned());
  const auto* bias = std::get_if<ScoreBias>(&encoding_.term());
  if (bias == nullptr || bias->token_numbers == 0) return;
  // Running sums of gates below 0, over each document.
  query_numbers = TokenRows(ElementType::float64, n, shape_.heads, bias->token_numbers);
  std::vector<double> sums(static_cast<std::size_t>(shape_.heads * bias->token_numbers));
  for (std::int64_t t = 0; t < n; ++t) {
    if (std::find(boundaries_.begin(), boundaries_.end(), t) != boundaries_.end())
      std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] -= static_cast<double>(random() >> 40) * 0x1p-26;
      const auto at = static_cast<std::int64_t>(i);
      query_numbers.set(t, at / bias->token_numbers, at % bias->token_numbers, sums[i]);
    }
  }
  key_numbers = query_numbers;
}

PositionIds RingSample::planned() const {
  PositionIds plan{1, 1, std::ssize(ids_), ids_};
  const auto* rotation = std::get_if<Rotation>(&encoding_.term());
  if (rotation == nullptr || rotation->axes == 1) return plan;
  // Every axis has ids of its own, so that a wrong axis shows.
  plan.axes = rotation->axes;
  for (std::int64_t axis = 1; axis < plan.axes; ++axis) {
    for (const Position id : ids_) plan.ids.push_back(start_ + (id - start_) / (axis + 1));
  }
  return plan;
}

void RingSample::rotate_rows(TokenRows& q, TokenRows& k, TokenRows& v, const PositionIds& ids) const {
  const auto* rotation = std::get_if<Rotation>(&encoding_.term());
  if (rotation == nullptr || q.tokens == 0) return;
  rotate(encoding_, q.view(), ids, Role::query);
  rotate(encoding_, k.view(), ids, Role::key);
  if (rotation->turns_output) rotate(encoding_, v.view(), ids, Role::key);
}

AttentionCall RingSample::whole(const Mask& mask) {
  return {.query = query.view(),
          .key = key.view(),
          .value = value.view(),
          .output = {},
          .encoding = &encoding_,
          .query_ids = ids_,
          .key_ids = ids_,
          .mask = mask,
          .query_boundaries = boundaries_,
          .key_boundaries = boundaries_,
          .query_numbers = query_numbers.view(),
          .key_numbers = key_numbers.view(),
          .sink_logits = sink_logits};
}

void RingSample::make_share(positions::ShardKind kind, positions::Remainder remainder, int ranks, int rank,
                            Share& share) const {
  share.shard = positions::document_shard(kind, shape_.lengths, ranks, rank, remainder);
  const std::vector<std::int64_t>& tokens = share.shard.tokens;
  share.query = rows_of(raw_query_, tokens);
  share.key = rows_of(raw_key_, tokens);
  share.value = rows_of(raw_value_, tokens);
  PositionIds own = positions::cut(planned(), share.shard);
  for (std::size_t i = 0; i < own.ids.size(); ++i) {
    if (tokens[i % tokens.size()] < 0) own.ids[i] = start_;  // padding needs an id that the encoding accepts
  }
  rotate_rows(share.query, share.key, share.value, own);
  share.ids.assign(own.ids.begin(), own.ids.begin() + std::ssize(tokens));
  if (query_numbers.tokens > 0) {
    share.query_numbers = rows_of(query_numbers, tokens);
    share.key_numbers = rows_of(key_numbers, tokens);
  }
  share.output = TokenRows(share.query.type, share.query.tokens, shape_.heads, shape_.head_dim);
  share.log_sum_exp.assign(static_cast<std::size_t>(shape_.heads * share.query.tokens), 0.0f);
  share.call = {.shard = &share.shard,
                .ids = share.ids,
                .query = share.query.view(),
                .key = share.key.view(),
                .value = share.value.view(),
                .output = share.output.view(),
                .encoding = &encoding_,
                .query_numbers = share.query_numbers.view(),
                .key_numbers = share.key_numbers.view(),
                .sink_logits = sink_logits,
                .log_sum_exp = share.log_sum_exp.data()};
}

}  // namespace locus::tools
