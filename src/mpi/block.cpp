// SPDX-License-Identifier: Apache-2.0
#include "mpi/block.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace locus::mpi {
namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

const std::byte* element_at(const HeadsView& view, std::int64_t batch, std::int64_t token, std::int64_t head) {
  const std::int64_t index = batch * view.batch_stride + token * view.token_stride + head * view.head_stride;
  return static_cast<const std::byte*>(view.data) + index * static_cast<std::int64_t>(size_of(view.type));
}

/// Calls `row(address, number of the row)` for the rows [batch][tokens][heads] of a view.
template <class Row>
void for_rows(const HeadsView& view, const Row& row) {
  std::int64_t number = 0;
  for (std::int64_t batch = 0; batch < view.batch; ++batch) {
    for (std::int64_t token = 0; token < view.tokens; ++token) {
      for (std::int64_t head = 0; head < view.heads; ++head) row(element_at(view, batch, token, head), number++);
    }
  }
}

template <class T>
void widen_row(const std::byte* from, float* to, std::int64_t dim) {
  for (std::int64_t j = 0; j < dim; ++j) {
    T element;
    std::memcpy(&element, from + j * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    to[j] = to_float(element);
  }
}

}  // namespace

BlockKind block_kind(const RingCall& call, std::int64_t masked_rows) {
  const auto* bias = call.encoding == nullptr ? nullptr : std::get_if<ScoreBias>(&call.encoding->term());
  const std::int64_t numbers = bias == nullptr ? 0 : bias->token_numbers;
  return {.batch = call.key.batch,
          .heads = call.key.heads,
          .head_dim = call.key.head_dim,
          .type = call.key.type,
          .masked_rows = masked_rows,
          .number_heads = numbers == 0 ? 0 : call.query.heads,
          .numbers = numbers};
}

BlockLayout::BlockLayout(const BlockKind& kind, std::int64_t count, std::int64_t piece_count) {
  const auto n = static_cast<std::size_t>(count);
  const auto rows = static_cast<std::size_t>(kind.batch) * n;
  ids = aligned(static_cast<std::size_t>(piece_count) * sizeof(positions::Piece));
  tokens = ids + aligned(n * sizeof(Position));
  numbers = tokens + aligned(n * sizeof(std::int64_t));
  keys = numbers + aligned(rows * static_cast<std::size_t>(kind.number_heads * kind.numbers) * sizeof(double));
  const std::size_t elements = rows * static_cast<std::size_t>(kind.heads * kind.head_dim) * size_of(kind.type);
  values = keys + aligned(elements);
  masked = values + aligned(elements);
  size = masked + aligned(static_cast<std::size_t>(kind.masked_rows) * n);
}

void copy_tokens(const HeadsView& from, void* to) {
  const std::size_t bytes = static_cast<std::size_t>(from.head_dim) * size_of(from.type);
  for_rows(from, [&](const std::byte* row, std::int64_t number) {
    std::memcpy(static_cast<std::byte*>(to) + static_cast<std::size_t>(number) * bytes, row, bytes);
  });
}

void widen_tokens(const HeadsView& from, float* to) {
  for_rows(from, [&](const std::byte* row, std::int64_t number) {
    float* place = to + number * from.head_dim;
    if (from.type == ElementType::float32) widen_row<float>(row, place, from.head_dim);
    if (from.type == ElementType::bfloat16) widen_row<BFloat16>(row, place, from.head_dim);
    if (from.type == ElementType::float16) widen_row<Float16>(row, place, from.head_dim);
  });
}

void store_tokens(const float* from, const HeadsView& to) {
  for_rows(to, [&](const std::byte* address, std::int64_t number) {
    auto* row = const_cast<std::byte*>(address);
    const float* values = from + number * to.head_dim;
    for (std::int64_t j = 0; j < to.head_dim; ++j) {
      const auto put = [&](auto element) {
        std::memcpy(row + j * static_cast<std::int64_t>(sizeof element), &element, sizeof element);
      };
      if (to.type == ElementType::float32) put(values[j]);
      if (to.type == ElementType::bfloat16) put(to_bfloat16(values[j]));
      if (to.type == ElementType::float16) put(to_float16(values[j]));
    }
  });
}

HeadsView contiguous_view(void* data, ElementType type, std::int64_t batch, std::int64_t tokens, std::int64_t heads,
                          std::int64_t dim) {
  return {.data = data,
          .type = type,
          .batch = batch,
          .tokens = tokens,
          .heads = heads,
          .head_dim = dim,
          .batch_stride = tokens * heads * dim,
          .token_stride = heads * dim,
          .head_stride = dim};
}

Block::Block(const BlockKind& kind, std::int64_t tokens, std::int64_t pieces)
    : kind_(kind), count_(tokens), piece_count_(pieces), layout_(kind, tokens, pieces), bytes_(layout_.size) {}

Block::Block(const BlockKind& kind, const RingCall& call)
    : Block(kind, call.query.tokens, std::ssize(call.shard->pieces)) {
  const auto put = [&](std::size_t place, const void* from, std::size_t size) {
    if (size > 0) std::memcpy(bytes_.data() + place, from, size);
  };
  const positions::DocumentShard& shard = *call.shard;
  const std::span<const Position> own_ids = call.ids.empty() ? std::span(shard.ids.ids) : call.ids;
  static_assert(std::is_trivially_copyable_v<positions::Piece>);
  put(layout_.pieces, shard.pieces.data(), shard.pieces.size() * sizeof(positions::Piece));
  put(layout_.ids, own_ids.data(), own_ids.size_bytes());
  put(layout_.tokens, shard.tokens.data(), shard.tokens.size() * sizeof(std::int64_t));
  put(layout_.masked, call.mask.keys.data(), call.mask.keys.size());
  if (kind.numbers > 0 && count_ > 0) {
    auto* to = reinterpret_cast<double*>(bytes_.data() + layout_.numbers);
    for_rows(call.key_numbers, [&](const std::byte* row, std::int64_t number) {
      for (std::int64_t n = 0; n < kind.numbers; ++n) {
        to[number * kind.numbers + n] = call.key_numbers.type == ElementType::float64
                                            ? reinterpret_cast<const double*>(row)[n]
                                            : static_cast<double>(reinterpret_cast<const float*>(row)[n]);
      }
    });
  }
  copy_tokens(call.key, bytes_.data() + layout_.keys);
  copy_tokens(call.value, bytes_.data() + layout_.values);
}

std::span<const positions::Piece> Block::pieces() const {
  return {reinterpret_cast<const positions::Piece*>(bytes_.data() + layout_.pieces),
          static_cast<std::size_t>(piece_count_)};
}

std::span<const Position> Block::ids() const {
  return {reinterpret_cast<const Position*>(bytes_.data() + layout_.ids), static_cast<std::size_t>(count_)};
}

std::span<const std::int64_t> Block::tokens() const {
  return {reinterpret_cast<const std::int64_t*>(bytes_.data() + layout_.tokens), static_cast<std::size_t>(count_)};
}

std::span<const std::uint8_t> Block::masked() const {
  return {reinterpret_cast<const std::uint8_t*>(bytes_.data() + layout_.masked),
          static_cast<std::size_t>(kind_.masked_rows * count_)};
}

HeadsView Block::numbers() const {
  if (kind_.numbers == 0) return {};
  return contiguous_view(const_cast<std::byte*>(bytes_.data() + layout_.numbers), ElementType::float64, kind_.batch,
                         count_, kind_.number_heads, kind_.numbers);
}

HeadsView Block::widened(std::size_t place, std::vector<float>& room) {
  const auto view = [&](void* data, ElementType type) {
    return contiguous_view(data, type, kind_.batch, count_, kind_.heads, kind_.head_dim);
  };
  if (kind_.type == ElementType::float32) return view(bytes_.data() + place, ElementType::float32);
  if (room.empty()) {
    room.resize(static_cast<std::size_t>(kind_.batch * count_ * kind_.heads * kind_.head_dim));
    widen_tokens(view(bytes_.data() + place, kind_.type), room.data());
  }
  return view(room.data(), ElementType::float32);
}

HeadsView Block::keys() { return widened(layout_.keys, wide_keys_); }
HeadsView Block::values() { return widened(layout_.values, wide_values_); }

}  // namespace locus::mpi
