// SPDX-License-Identifier: Apache-2.0
// Packed documents over the ranks of context parallelism. Each document is cut by itself, so that every rank has a
// share of each. Zigzag of documents of 7 and 4 tokens on 2 ranks, with p for padding:
//   document     0 0 0 0 0 0 0 p  1 1 1 1
//   place        0 1 2 3 4 5 6 7  0 1 2 3
//   rank         0 0 1 1 1 1 0 0  0 1 1 0
#include "locus/document_shards.h"

#include <algorithm>
#include <array>

#include "positions/checks.h"

namespace locus::positions {

namespace {

/// Places start, start + step, ... of a document, `count` of them.
struct Run {
  std::int64_t start = 0, count = 0, step = 1;
};

/// The part of `length` tokens that piece `index` of `pieces` has; the first ones take the remainder.
Run piece_of(std::int64_t length, std::int64_t pieces, std::int64_t index) {
  const std::int64_t share = length / pieces, rest = length % pieces;
  return {index * share + std::min(index, rest), share + (index < rest ? 1 : 0)};
}

/// What `rank` has of a document of `length` tokens, padding included: at most two runs.
std::array<Run, 2> runs_of(ShardKind kind, std::int64_t length, std::int64_t ranks, std::int64_t rank) {
  switch (kind) {
    case ShardKind::contiguous:
      return {piece_of(length, ranks, rank), {}};
    case ShardKind::striped:
      return {Run{rank, length / ranks + (rank < length % ranks ? 1 : 0), ranks}, {}};
    case ShardKind::zigzag: {
      Run first = piece_of(length, 2 * ranks, rank);
      const Run second = piece_of(length, 2 * ranks, 2 * ranks - 1 - rank);
      if (first.start + first.count != second.start) return {first, second};
      first.count += second.count;  // the pieces in the middle touch
      return {first, {}};
    }
  }
  fail("document_shard.kind must be contiguous, striped or zigzag, got ", static_cast<int>(kind));
}

std::int64_t padded_length(std::int64_t length, std::int64_t pieces) {
  const std::int64_t rest = length % pieces;
  return rest == 0 ? length : checked_sum("document_shard", length, pieces - rest);
}

/// Where a document starts: in the packed row, in the padded row, and in the shard.
struct Start {
  std::int64_t token = 0, slot = 0, own = 0;
};

void put_run(DocumentShard& shard, const Run& run, std::int64_t document, std::int64_t length, const Start& start) {
  Piece piece{document, start.own, 0, run.start, run.step};
  for (std::int64_t i = 0; i < run.count; ++i) {
    const auto at = static_cast<std::size_t>(start.own + i);
    const std::int64_t place = run.start + i * run.step;
    const bool real = place < length;
    shard.ids.ids[at] = place;
    shard.tokens[at] = real ? start.token + place : -1;
    shard.slots[at] = start.slot + place;
    shard.mask[at] = real ? 1 : 0;
    piece.tokens += real ? 1 : 0;
  }
  if (piece.tokens > 0) shard.pieces.push_back(piece);
}

/// FNV-1a over the numbers that define a plan.
class PlanHash {
 public:
  void add(std::int64_t number) {
    for (int byte = 0; byte < 8; ++byte) {
      hash_ = (hash_ ^ (static_cast<std::uint64_t>(number) >> (8 * byte) & 0xff)) * 0x100000001b3;
    }
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace

DocumentShard document_shard(ShardKind kind, std::span<const std::int64_t> lengths, std::int64_t ranks,
                             std::int64_t rank, Remainder remainder) {
  require(ranks >= 1 && ranks <= max_ids, "document_shard.ranks must be 1 to ", max_ids, ", got ", ranks);
  require(rank >= 0 && rank < ranks, "document_shard.rank must be at least 0 and below ranks (", ranks, "), got ",
          rank);
  const std::int64_t pieces = kind == ShardKind::zigzag ? 2 * ranks : ranks;
  std::vector<std::int64_t> padded(lengths.begin(), lengths.end());
  std::int64_t own = 0, all = 0;
  PlanHash hash;
  for (const std::int64_t number : {static_cast<std::int64_t>(kind), static_cast<std::int64_t>(remainder), ranks}) {
    hash.add(number);
  }
  for (std::size_t document = 0; document < lengths.size(); ++document) {
    require(lengths[document] >= 0, "document_shard.lengths[", document, "] must be at least 0, got ",
            lengths[document]);
    if (remainder == Remainder::padded) padded[document] = padded_length(lengths[document], pieces);
    all = checked_sum("document_shard", all, padded[document]);
    hash.add(lengths[document]);
    for (const Run& run : runs_of(kind, padded[document], ranks, rank)) own += run.count;
  }
  DocumentShard shard{.ids = make_ids("document_shard", 1, 1, own),
                      .tokens = checked_vector<std::int64_t>("document_shard", own),
                      .slots = checked_vector<std::int64_t>("document_shard", own),
                      .mask = checked_vector<std::uint8_t>("document_shard", own),
                      .pieces = {},
                      .ranks = ranks,
                      .rank = rank,
                      .plan = hash.value()};
  Start start;
  for (std::size_t document = 0; document < lengths.size(); ++document) {
    for (const Run& run : runs_of(kind, padded[document], ranks, rank)) {
      put_run(shard, run, static_cast<std::int64_t>(document), lengths[document], start);
      start.own += run.count;
    }
    start.token += lengths[document];
    start.slot += padded[document];
  }
  return shard;
}

PositionIds cut(const PositionIds& plan, const DocumentShard& shard) {
  const auto count = static_cast<std::int64_t>(shard.tokens.size());
  PositionIds part = make_ids("cut", plan.axes, plan.batch, count);
  for (const std::int64_t token : shard.tokens) {
    require(token < plan.tokens, "cut.shard must hold tokens of a plan of ", plan.tokens, " tokens, got token ", token);
  }
  for (std::int64_t row = 0; row < plan.axes * plan.batch; ++row) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t token = shard.tokens[static_cast<std::size_t>(i)];
      if (token < 0) continue;
      part.ids[static_cast<std::size_t>(row * count + i)] =
          plan.ids[static_cast<std::size_t>(row * plan.tokens + token)];
    }
  }
  return part;
}

}  // namespace locus::positions
