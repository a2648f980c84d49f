// SPDX-License-Identifier: Apache-2.0
#include "attention/page_blocks.h"

#include <algorithm>
#include <array>

#include "kernels/prefetch.h"

namespace locus {

void BlockReader::begin(std::span<const PageSpan> spans, std::int64_t head) {
  spans_ = spans;
  head_ = head;
  span_ = 0;
  used_ = 0;
  following_ = nullptr;
  next_.clear();
}

void BlockReader::set_following(const PageSpan& span, std::int64_t head) {
  following_ = span.keys + head * layout_.head_stride * layout_.element_size;
  following_count_ = span.count;
}

void BlockReader::advance(std::int64_t count) {
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
    } else if (next_.empty() && i == 0 && following_ != nullptr && following_count_ >= piece.keys.rows) {
      piece.values.ahead = following_;
    }
  }
}

Piece BlockReader::piece(const PageSpan& span, std::int64_t at, std::int64_t count) const {
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

Piece BlockReader::turned(const Piece& piece, std::int64_t first) {
  const std::int64_t key_bytes = dim_ * layout_.element_size;
  keys_.resize(static_cast<std::size_t>(turned_at_once * key_bytes));
  scales_.resize(turned_at_once);
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
  return part;
}

std::span<const PageSpan> ComputedTurns::computed(std::span<const PageSpan> spans) {
  const auto computes = [](const PageSpan& span) { return span.turns.steps != nullptr; };
  if (std::none_of(spans.begin(), spans.end(), computes)) return spans;
  spans_.assign(spans.begin(), spans.end());
  list_products();
  sort_by_step();
  const std::int64_t key_bytes = dim_ * layout_.element_size;
  const std::int64_t products = std::max<std::int64_t>(1, std::ssize(sorted_));
  std::int64_t keys = 0, loaded = 0, done = 0, loaded_of_span = 0;
  for (const PageSpan& span : spans_) keys += span.count;
  auto span = spans_.begin();
  for (const Product& product : sorted_) {
    for (const std::int64_t due = ++done * keys / products; loaded < due; ++loaded) {
      while (loaded_of_span == span->count) ++span, loaded_of_span = 0;
      prefetch_bytes(span->keys + loaded_of_span++ * key_bytes, key_bytes);
    }
    layout_.turn->multiply(product.anchor, product.step, product.row);
  }
  return spans_;
}

// Ids that were divided repeat every difference: consecutive keys with the same turn share its row.
void ComputedTurns::list_products() {
  const std::int64_t size = layout_.turn->size();
  if (rows_.data() == nullptr) rows_ = AlignedFloats(portion_keys * size);
  each_.resize(portion_keys);
  products_.clear();
  const float** key = each_.data();
  for (PageSpan& span : spans_) {
    if (span.turns.steps == nullptr) continue;
    const KeyTurns turns = span.turns;
    span.turns = {.each = key};
    for (std::int64_t t = 0; t < span.count; ++t, ++key) {
      const StepTurn& turn = turns.steps[t];
      if (t == 0 || turn != turns.steps[t - 1]) {
        products_.push_back(
            {turns.anchors + turn.anchor * size, turn.step, rows_.data() + std::ssize(products_) * size});
      }
      *key = products_.back().row;
    }
  }
}

// The rows of steps take most of the L1 cache, those of the few anchors of a portion little of it.
void ComputedTurns::sort_by_step() {
  std::array<std::size_t, steps_per_anchor + 1> begin{};
  for (const Product& product : products_) ++begin[static_cast<std::size_t>(product.step) + 1];
  for (std::size_t step = 1; step < begin.size(); ++step) begin[step] += begin[step - 1];
  sorted_.resize(products_.size());
  for (const Product& product : products_) sorted_[begin[static_cast<std::size_t>(product.step)]++] = product;
}

}  // namespace locus
