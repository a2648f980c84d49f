// SPDX-License-Identifier: Apache-2.0
#include "mpi/pair.h"

#include <algorithm>

namespace locus::mpi {
namespace {

std::vector<Position> places_of(const positions::Piece& piece) {
  std::vector<Position> places(static_cast<std::size_t>(piece.tokens));
  Position place = piece.place;
  for (Position& one : places) {
    one = place;
    place += piece.step;
  }
  return places;
}

std::span<const Position> ids_of(std::span<const Position> all, const positions::Piece& piece) {
  return all.subspan(static_cast<std::size_t>(piece.first), static_cast<std::size_t>(piece.tokens));
}

}  // namespace

HeadsView part_of(HeadsView view, std::int64_t first, std::int64_t count) {
  if (view.data != nullptr) {
    view.data =
        static_cast<std::byte*>(view.data) + first * view.token_stride * static_cast<std::int64_t>(size_of(view.type));
  }
  view.tokens = count;
  return view;
}

std::span<const positions::Piece> pieces_of(std::span<const positions::Piece> pieces, std::int64_t document) {
  const auto [first, last] =
      std::equal_range(pieces.begin(), pieces.end(), positions::Piece{.document = document},
                       [](const positions::Piece& a, const positions::Piece& b) { return a.document < b.document; });
  return {first, last};
}

PairCall::PairCall(const OwnQueries& own, const positions::Piece& queries, Block& block, const positions::Piece& keys) {
  const RingCall& whole = own.call;
  call.query = part_of(own.query, queries.first, queries.tokens);
  call.key = part_of(block.keys(), keys.first, keys.tokens);
  call.value = part_of(block.values(), keys.first, keys.tokens);
  call.encoding = whole.encoding;
  call.query_ids = ids_of(own.ids, queries);
  call.key_ids = ids_of(block.ids(), keys);
  if (block.numbers().data != nullptr) {
    call.query_numbers = part_of(whole.query_numbers, queries.first, queries.tokens);
    call.key_numbers = part_of(block.numbers(), keys.first, keys.tokens);
  }
  call.scale = whole.scale;
  call.scale_factor = whole.scale_factor;
  call.soft_cap = whole.soft_cap;
  call.skip_irrelevant_blocks = whole.skip_irrelevant_blocks;
  call.executor = own.executor;
  take_mask(own, queries, block, keys);
}

void PairCall::take_mask(const OwnQueries& own, const positions::Piece& queries, const Block& block,
                         const positions::Piece& keys) {
  const Mask& mask = own.call.mask;
  call.mask = {.causal = mask.causal, .prefix = mask.prefix, .window = mask.window, .sinks = mask.sinks};
  if (mask.by_index) {
    query_places_ = places_of(queries);
    key_places_ = places_of(keys);
    shard.query_places = query_places_;
    shard.key_places = key_places_;
  }
  if (const std::span<const std::uint8_t> all = block.masked(); !all.empty()) {
    for (std::int64_t row = 0; row < std::ssize(all) / block.token_count(); ++row) {
      const auto from = all.begin() + row * block.token_count() + keys.first;
      masked_.insert(masked_.end(), from, from + keys.tokens);
    }
    call.mask.keys = masked_;
  }
  if (mask.pairs.empty() && mask.custom == nullptr) return;
  // Both speak of tokens of the packed row.
  const std::int64_t first_query = queries.first, own_tokens = own.call.query.tokens, columns = own.all_tokens;
  const std::int64_t* query_tokens = own.call.shard->tokens.data() + queries.first;
  const std::int64_t* key_tokens = block.tokens().data() + keys.first;
  call.mask.custom = [&mask, first_query, own_tokens, columns, query_tokens, key_tokens](
                         std::int64_t batch, std::int64_t head, std::int64_t query, std::int64_t key) {
    if (!mask.pairs.empty()) {
      const std::int64_t row = std::ssize(mask.pairs) == own_tokens * columns ? 0 : batch;
      const std::int64_t at = (row * own_tokens + first_query + query) * columns + key_tokens[key];
      if (mask.pairs[static_cast<std::size_t>(at)] == 0) return false;
    }
    return mask.custom == nullptr || mask.custom(batch, head, query_tokens[query], key_tokens[key]);
  };
}

}  // namespace locus::mpi
