// SPDX-License-Identifier: Apache-2.0
#include "mpi/schedule.h"

#include <algorithm>
#include <cstring>

#include "locus/error.h"
#include "mpi/negligible.h"

namespace locus::mpi {
namespace {

bool overlap(const Range& a, const Range& b) { return a.first <= b.last && b.first <= a.last; }

PieceSpan hull(const PieceSpan& a, const PieceSpan& b) {
  const auto join = [](const Range& x, const Range& y) {
    return Range{std::min(x.first, y.first), std::max(x.last, y.last)};
  };
  return {std::min(a.first_document, b.first_document), std::max(a.last_document, b.last_document),
          join(a.places, b.places), join(a.ids, b.ids)};
}

/// What the other ranks learn of a rank's tokens, with the steps of the pieces (0 for a hull).
struct Summary {
  Schedule::Size size;  ///< plain numbers, first in the message
  std::vector<PieceSpan> spans;
  std::vector<std::int64_t> steps;
  std::vector<double> norms;
};

template <class T>
void append(std::vector<std::byte>& bytes, std::span<const T> values) {
  const auto from = std::as_bytes(values);
  bytes.insert(bytes.end(), from.begin(), from.end());
}

template <class T>
std::vector<T> take(std::span<const std::byte>& bytes, std::size_t count) {
  std::vector<T> values(count);
  if (count > 0) std::memcpy(values.data(), bytes.data(), count * sizeof(T));
  bytes = bytes.subspan(count * sizeof(T));
  return values;
}

std::vector<std::byte> packed(const Summary& summary) {
  const std::vector<std::int64_t> head{summary.size.tokens, summary.size.pieces, summary.size.real,
                                       std::ssize(summary.spans), std::ssize(summary.norms)};
  std::vector<std::byte> bytes;
  append(bytes, std::span(head));
  append(bytes, std::span(summary.spans));
  append(bytes, std::span(summary.steps));
  append(bytes, std::span(summary.norms));
  return bytes;
}

Summary unpacked(std::span<const std::byte> bytes) {
  const std::vector<std::int64_t> head = take<std::int64_t>(bytes, 5);
  Summary summary{.size = {head[0], head[1], head[2]}, .spans = {}, .steps = {}, .norms = {}};
  summary.spans = take<PieceSpan>(bytes, static_cast<std::size_t>(head[3]));
  summary.steps = take<std::int64_t>(bytes, static_cast<std::size_t>(head[3]));
  summary.norms = take<double>(bytes, static_cast<std::size_t>(head[4]));
  return summary;
}

Summary summary_of(const RingCall& call, std::span<const Position> ids) {
  const std::vector<positions::Piece>& pieces = call.shard->pieces;
  Summary summary{.size = {call.query.tokens, std::ssize(pieces), 0}, .spans = {}, .steps = {}, .norms = {}};
  const std::size_t per_span = pieces_per_span(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const PieceSpan one = span_of(pieces[i], ids);
    summary.size.real += pieces[i].tokens;
    if (i % per_span == 0) {
      summary.spans.push_back(one);
      summary.steps.push_back(pieces[i].step);
    } else {
      summary.spans.back() = hull(summary.spans.back(), one);
      summary.steps.back() = 0;
    }
  }
  return summary;
}

/// Widened copies of a view's elements.
struct Floats {
  explicit Floats(const HeadsView& from)
      : data(static_cast<std::size_t>(from.batch * from.tokens * from.heads * from.head_dim)),
        view(contiguous_view(data.data(), ElementType::float32, from.batch, from.tokens, from.heads, from.head_dim)) {
    widen_tokens(from, data.data());
  }
  std::vector<float> data;
  HeadsView view;
};

/// The first place that two pieces share, or -1; of hulls nothing is known.
std::int64_t shared_place(const PieceSpan& a, std::int64_t step_a, const PieceSpan& b, std::int64_t step_b) {
  if (step_a == 0 || step_a != step_b || a.first_document != b.first_document || !overlap(a.places, b.places))
    return -1;
  if ((a.places.first - b.places.first) % step_a != 0) return -1;
  return std::max(a.places.first, b.places.first);
}

/// A token that this rank and a later one hold, or none.
struct Conflict {
  std::int64_t other = -1, document = 0, place = 0;
};

}  // namespace

// A rank tells 64 spans apart to the others. More pieces are merged into hulls, which may be needed without reason.
std::size_t pieces_per_span(std::size_t pieces) { return (pieces + 63) / 64; }

PieceSpan span_of(const positions::Piece& piece, std::span<const Position> ids) {
  const auto own = ids.subspan(static_cast<std::size_t>(piece.first), static_cast<std::size_t>(piece.tokens));
  const auto [least, most] = std::minmax_element(own.begin(), own.end());
  return {
      piece.document, piece.document, {piece.place, piece.place + (piece.tokens - 1) * piece.step}, {*least, *most}};
}

bool may_see(const Mask& mask, const PieceSpan& queries, const PieceSpan& keys) {
  if (keys.last_document < queries.first_document || keys.first_document > queries.last_document) return false;
  const Range& q = mask.by_index ? queries.places : queries.ids;
  const Range& k = mask.by_index ? keys.places : keys.ids;
  const auto has_first = [&](std::int64_t count) { return count > 0 && k.first < count && k.last >= 0; };
  if (mask.causal && k.first > q.last && !has_first(mask.prefix)) return false;
  const Position distance = std::max({Position{0}, k.first - q.last, q.first - k.last});
  return mask.window == 0 || distance < mask.window || has_first(mask.sinks);
}

Schedule::Schedule(Channel& channel, const RingCall& call) {
  const std::span<const Position> ids = call.ids.empty() ? std::span(call.shard->ids.ids) : call.ids;
  Summary own = summary_of(call, ids);
  std::optional<NegligibleKeys> negligible;
  if (NegligibleKeys::possible(call)) {
    const Floats queries(call.query), keys(call.key);
    negligible.emplace(call, queries.view, keys.view);
    own.norms = largest_norms(keys.view, call.shard->pieces);
  }
  std::vector<Summary> all;
  for (const std::vector<std::byte>& bytes : channel.gather_lists(packed(own))) {
    all.push_back(unpacked(bytes));
    sizes_.push_back(all.back().size);
    spans_.push_back(all.back().spans);
    all_tokens_ += all.back().size.real;
  }

  // This rank's row of needs, and a token that it shares with a later rank.
  std::vector<std::uint8_t> row(all.size() + sizeof(Conflict), 0);
  Conflict conflict;
  const auto self = static_cast<std::size_t>(channel.rank());
  for (std::size_t block = 0; block < all.size(); ++block) {
    const Summary& other = all[block];
    for (std::size_t m = 0; m < own.spans.size(); ++m) {
      const PieceSpan& mine = own.spans[m];
      for (std::size_t i = 0; i < other.spans.size(); ++i) {
        const PieceSpan& theirs = other.spans[i];
        const bool skipped =
            negligible && negligible->are_negligible(m, mine, theirs, other.norms, static_cast<double>(all_tokens_));
        row[block] |= static_cast<std::uint8_t>(may_see(call.mask, mine, theirs) && !skipped);
        const std::int64_t place = shared_place(mine, own.steps[m], theirs, other.steps[i]);
        if (block > self && conflict.other < 0 && place >= 0) {
          conflict = {static_cast<std::int64_t>(block), mine.first_document, place};
        }
      }
    }
  }
  row[self] = 1;
  std::memcpy(row.data() + all.size(), &conflict, sizeof conflict);
  const std::vector<std::byte> rows = channel.gather(std::as_bytes(std::span(row)));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::byte* of_rank = rows.data() + rank * row.size();
    std::memcpy(&conflict, of_rank + all.size(), sizeof conflict);
    require(conflict.other < 0, "mpi: every token must be held by one rank, ranks ", rank, " and ", conflict.other,
            " both hold token ", conflict.place, " of document ", conflict.document);
    for (std::size_t block = 0; block < all.size(); ++block) {
      needed_.push_back(std::to_integer<std::uint8_t>(of_rank[block]));
    }
  }
  const int ranks = channel.ranks();
  for (int step = 0; step < ranks; ++step) {
    bool any = step == 0;
    for (int rank = 0; rank < ranks; ++rank) any |= needed(rank, (rank - step + ranks) % ranks);
    if (any) steps_.push_back(step);
  }
}

bool Schedule::travels(int block, std::size_t from) const {
  const int ranks = static_cast<int>(sizes_.size());
  for (std::size_t i = from; i < steps_.size(); ++i) {
    if (needed((block + steps_[i]) % ranks, block)) return true;
  }
  return false;
}

}  // namespace locus::mpi
